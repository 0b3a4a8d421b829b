// The page: what the address says is asked of the lab and shown; what is chosen goes into the
// address. The lab computes everything, pictures too.
import {draw_knobs, draw_switches} from "/controls.js";
import {LocksTab} from "/locks.js";
import {ask, element, line, make, seconds} from "/page.js";
import {Player} from "/player.js";

/**
 * @typedef {import("/controls.js").Catalogue} Catalogue
 * @typedef {import("/player.js").Run} Run
 */

const bad_kinds = ["doubled", "torn", "robbed", "forgot", "objected"];

const chosen = new URLSearchParams(location.search);
let zoom = {from: 0, to: 0};  // to = 0: all
let newest = 0;               // only the answer to the newest question is shown
let hunting = false;
/** @type {Catalogue} */
let catalogue;

const story_box = element("story", HTMLSelectElement);
const seed_box = element("seed", HTMLInputElement);
const scrub = element("scrub", HTMLInputElement);
const events = element("events", HTMLElement);
const picture = element("picture", HTMLElement);
const play_button = element("play", HTMLButtonElement);
const hunt_button = element("hunt", HTMLButtonElement);
const locks = new LocksTab();
const player = new Player(picture, moved);

// ---- the playhead -------------------------------------------------------------------------------

/** @param {number} at */
function moved(at) {
  scrub.value = String(Math.round(at));
  element("clock", HTMLElement).textContent = seconds(at);
  play_button.textContent = player.playing ? "Pause" : "Play";
  play_button.setAttribute("aria-pressed", String(player.playing));
  const here = player.event_here();
  const before = events.querySelector("[aria-current=true]");
  const now = events.querySelectorAll("button")[here];
  if (before !== (now ?? null)) {
    before?.removeAttribute("aria-current");
    now?.setAttribute("aria-current", "true");
    if (now) {  // within the list only: the page must not jump while it plays
      const above = now.offsetTop - events.offsetTop;
      const room = events.clientHeight - now.offsetHeight;
      events.scrollTop = Math.min(Math.max(events.scrollTop, above - room), above);
    }
    element("event", HTMLElement).textContent =
        here < 0 || player.run === null ? "" : player.run.events[here].text;
  }
}

/** @param {number} number of the event */
function jump(number) {
  player.play(false);
  if (player.run !== null) {
    player.move(player.run.events[number].at);
  }
}

// ---- asking and showing -------------------------------------------------------------------------

/** @param {Run} run */
function show(run) {
  const verdict = element("verdict", HTMLElement);
  verdict.textContent = run.verdict.text;
  verdict.classList.toggle("broken", run.verdict.broken);
  element("before", HTMLElement).textContent = run.before ?? "";
  element("after", HTMLElement).textContent = run.after ?? "";
  element("problem", HTMLElement).textContent = "";
  element("save", HTMLAnchorElement).href = `/api/picture?${run.address}`;
  scrub.max = String(Math.ceil(run.length));
  events.replaceChildren(...run.events.map((event, number) => {
    const button = make("button", `${seconds(event.at)}  ${event.text}`);
    button.type = "button";
    button.classList.toggle("bad", bad_kinds.includes(event.kind));
    button.addEventListener("click", () => jump(number));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  history.replaceState(null, "", `/?${run.address}`);
  player.show(run);
}

async function load() {
  const mine = ++newest;
  const query = new URLSearchParams(chosen);
  query.set("width", String(Math.min(Math.max(picture.clientWidth - 2, 640), 4000)));
  if (zoom.to > 0) {
    query.set("from", String(Math.round(zoom.from)));
    query.set("to", String(Math.round(zoom.to)));
  }
  try {
    const run = await ask(`/api/run?${query}`);
    if (mine === newest) {
      show(run);
    }
  } catch (error) {
    if (mine === newest) {
      element("problem", HTMLElement).textContent = line(error);
    }
  }
}

/**
 * @param {string} name
 * @param {string | null} value null: as at first
 */
function change(name, value) {
  if (value === null) {
    chosen.delete(name);
  } else {
    chosen.set(name, value);
  }
  hunting = false;
  player.play(false);
  load();
}

/** @param {number} seed */
function choose_seed(seed) {
  seed_box.value = String(Math.max(seed, 0));
  change("seed", seed_box.value);
}

function draw_choice() {
  const name = chosen.get("story") ?? "free";
  const place = element("switches", HTMLElement);
  story_box.value = name;
  seed_box.value = chosen.get("seed") ?? "1";
  const story = catalogue.stories.find((each) => each.name === name);
  if (story === undefined) {
    draw_knobs(place, catalogue.knobs, chosen, change);
  } else {
    draw_switches(place, story, chosen, change);
  }
}

// ---- zoom ---------------------------------------------------------------------------------------

/** @param {number} factor */
function zoom_by(factor) {
  const run = player.run;
  if (run === null) {
    return;
  }
  const span = Math.max((run.view.to - run.view.from) * factor, 50);
  if (span >= run.length) {
    zoom = {from: 0, to: 0};
  } else {
    const from = Math.min(Math.max(player.at - span / 2, 0), run.length - span);
    zoom = {from, to: from + span};
  }
  load();
}

// ---- find me a seed where this breaks -----------------------------------------------------------

async function hunt() {
  const told = element("hunted", HTMLElement);
  if (hunting) {
    hunting = false;
    return;
  }
  hunting = true;
  hunt_button.textContent = "Stop looking";
  const query = new URLSearchParams(chosen);
  let tried = 0;
  let next = Number(chosen.get("seed") ?? "1") + 1;
  try {
    while (hunting && tried < 100000) {
      query.set("seed", String(next));
      const answer = await ask(`/api/hunt?${query}`);
      tried += answer.tried;
      next = answer.next;
      told.textContent = `${tried} seeds tried`;
      if (answer.found !== null) {
        told.textContent = `seed ${answer.found} breaks, the ${tried}th that was tried`;
        choose_seed(answer.found);
        break;
      }
    }
  } catch (error) {
    told.textContent = line(error);
  }
  hunting = false;
  hunt_button.textContent = "Find me a seed where this breaks";
}

// ---- keys and buttons ---------------------------------------------------------------------------

/** @type {Record<string, (shift: boolean) => void>} */
const keys = {
  " ": () => player.play(!player.playing),
  ArrowLeft: (shift) => shift ? player.move(player.at - 100) : player.step(-1),
  ArrowRight: (shift) => shift ? player.move(player.at + 100) : player.step(1),
  Home: () => player.move(0),
  End: () => player.move(player.run?.length ?? 0),
  "+": () => zoom_by(0.5),
  "-": () => zoom_by(2),
  "0": () => zoom_by(1e9),
};

document.addEventListener("keydown", (pressed) => {
  const target = pressed.target;
  const busy = target instanceof HTMLInputElement || target instanceof HTMLSelectElement ||
      (target instanceof HTMLButtonElement && pressed.key === " ");
  const act = keys[pressed.key];
  if (act && !busy && !pressed.ctrlKey && !pressed.metaKey && !pressed.altKey &&
      !element("stories", HTMLElement).hidden) {
    pressed.preventDefault();
    act(pressed.shiftKey);
    moved(player.at);
  }
});

picture.addEventListener("click", (clicked) => {
  const mark = clicked.target instanceof Element ? clicked.target.closest("[data-mark]") : null;
  const span = clicked.target instanceof Element ? clicked.target.closest(".span") : null;
  if (mark !== null) {
    jump(Number(mark.getAttribute("data-mark")));
  } else if (span !== null) {
    element("event", HTMLElement).textContent = span.querySelector("title")?.textContent ?? "";
  }
});

/** @param {boolean} live */
function switch_tab(live) {
  element("stories", HTMLElement).hidden = live;
  element("locks", HTMLElement).hidden = !live;
  element("tab-stories", HTMLElement).setAttribute("aria-pressed", String(!live));
  element("tab-locks", HTMLElement).setAttribute("aria-pressed", String(live));
  locks.show(live);
}

function listen() {
  element("choice", HTMLFormElement).addEventListener("submit", (e) => e.preventDefault());
  element("tab-stories", HTMLElement).addEventListener("click", () => switch_tab(false));
  element("tab-locks", HTMLElement).addEventListener("click", () => switch_tab(true));
  story_box.addEventListener("change", () => {
    for (const name of [...chosen.keys()]) {
      chosen.delete(name);
    }
    zoom = {from: 0, to: 0};
    player.at = 0;
    change("story", story_box.value);
    draw_choice();
  });
  seed_box.addEventListener("change", () => change("seed", seed_box.value.trim() || "1"));
  element("seed-before", HTMLElement).addEventListener("click",
      () => choose_seed(Number(seed_box.value) - 1));
  element("seed-after", HTMLElement).addEventListener("click",
      () => choose_seed(Number(seed_box.value) + 1));
  hunt_button.addEventListener("click", hunt);
  play_button.addEventListener("click", () => {
    player.play(!player.playing);
    moved(player.at);
  });
  element("back", HTMLElement).addEventListener("click", () => player.step(-1));
  element("forth", HTMLElement).addEventListener("click", () => player.step(1));
  element("zoom-in", HTMLElement).addEventListener("click", () => zoom_by(0.5));
  element("zoom-out", HTMLElement).addEventListener("click", () => zoom_by(2));
  scrub.addEventListener("input", () => {
    player.play(false);
    player.move(Number(scrub.value));
  });
}

async function start() {
  try {
    catalogue = await ask("/api/catalogue");
  } catch (error) {
    element("problem", HTMLElement).textContent = line(error);
    return;
  }
  if (![...chosen.keys()].length) {
    chosen.set("story", "gc-pause");
  }
  for (const story of catalogue.stories) {
    const option = make("option", story.title);
    option.value = story.name;
    story_box.append(option);
  }
  const free = make("option", "Free play");
  free.value = "free";
  story_box.append(free);
  element("tab-locks", HTMLElement).hidden = !catalogue.live;
  draw_choice();
  listen();
  await load();
  player.move(player.run?.length ?? 0);
}

start();
