// The live tab: locks of a real store, once a second while it is looked at.
import {ask, element, line, make} from "/page.js";

const every_ms = 1000;

/**
 * @typedef {{host: string, pid: number, note?: string}} Who
 * @typedef {Who & {owner: string, fence: number, held_for: number, ttl_left: number,
 *                  broken: boolean, released: boolean}} Holder
 * @typedef {{name: string, holders: Holder[], waiters: (Who & {waiting_for: number})[]}} Lock
 */

/** @param {Who} who */
function who_text(who) {
  const note = who.note ? ` (${who.note})` : "";
  return `${who.host || "an unknown host"}, pid ${who.pid}${note}`;
}

/** @param {number} value in seconds */
function time_text(value) {
  return value < 120 ? `${value.toFixed(1)} s` : `${Math.round(value / 60)} min`;
}

export class LocksTab {
  constructor() {
    this.prefix = element("prefix", HTMLInputElement);
    this.rows = element("locks-rows", HTMLElement);
    this.dialog = element("confirm", HTMLDialogElement);
    /** @type {number | undefined} */
    this.timer = undefined;
    this.shown = false;
    element("filter", HTMLFormElement).addEventListener("submit", (e) => e.preventDefault());
  }

  /** @param {boolean} on */
  show(on) {
    this.shown = on;
    clearTimeout(this.timer);
    if (on) {
      this.look();
    }
  }

  async look() {
    const problem = element("locks-problem", HTMLElement);
    try {
      const answer = await ask(`/api/locks?${new URLSearchParams({prefix: this.prefix.value})}`);
      problem.textContent = "";
      this.draw(answer);
    } catch (error) {
      problem.textContent = line(error);
    }
    if (this.shown) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(), every_ms);
    }
  }

  /** @param {{store: string, names: Lock[], more: boolean, events: string[],
   *           may_break: boolean}} answer */
  draw(answer) {
    element("locks-store", HTMLElement).textContent =
        answer.store + (answer.more ? ": too many to show; choose a prefix" : "");
    this.rows.replaceChildren(...answer.names.map((lock) => this.row(lock, answer.may_break)));
    element("locks-none", HTMLElement).hidden = answer.names.length > 0;
    element("locks-events", HTMLElement).replaceChildren(
        ...answer.events.map((event) => make("li", event)));
  }

  /**
   * @param {Lock} lock
   * @param {boolean} may_break
   */
  row(lock, may_break) {
    const row = document.createElement("tr");
    const holder = lock.holders[0];
    const state = holder === undefined ? "" :
        holder.broken ? " (broken, stopping)" : holder.released ? " (given back)" : "";
    const others = lock.holders.length > 1 ? ` and ${lock.holders.length - 1} more` : "";
    const cells = holder === undefined ? ["nobody", "", "", ""] :
        [who_text(holder) + others + state, time_text(holder.held_for),
         time_text(holder.ttl_left), String(holder.fence)];
    const waiting = lock.waiters.map((w) => `${who_text(w)}, ${time_text(w.waiting_for)}`);
    row.append(...[lock.name, ...cells].map((text) => make("td", text)));
    const queue = document.createElement("td");
    for (const one of waiting) {
      queue.append(make("div", one));
    }
    const action = document.createElement("td");
    if (may_break && holder !== undefined && !holder.broken) {
      const button = make("button", "break");
      button.type = "button";
      button.addEventListener("click", () => this.confirm(lock.name, holder));
      action.append(button);
    }
    row.append(queue, action);
    return row;
  }

  /**
   * @param {string} name
   * @param {Holder} holder
   */
  confirm(name, holder) {
    element("confirm-text", HTMLElement).textContent =
        `Take ${name} away from ${who_text(holder)}? It will be told to stop its work.`;
    this.dialog.returnValue = "no";
    this.dialog.onclose = async () => {
      if (this.dialog.returnValue !== "yes") {
        return;
      }
      try {
        await ask(`/api/break?${new URLSearchParams({name})}`,
                  {method: "POST", headers: {"X-Holdfast-Lab": "1"}});
      } catch (error) {
        element("locks-problem", HTMLElement).textContent = line(error);
      }
    };
    this.dialog.showModal();
  }
}
