// What can be chosen: a story and its switches, or the knobs of free play. Choices live in the
// address; these functions draw them and tell of changes.
import {make} from "/page.js";

/**
 * @typedef {{name: string, label: string, on: boolean, cures: boolean}} Switch
 * @typedef {{name: string, title: string, before: string, switches: Switch[]}} Story
 * @typedef {{name: string, label: string, kind: string, value: string, choices?: string[]}} Knob
 * @typedef {{stories: Story[], knobs: Knob[], live: boolean}} Catalogue
 */

/**
 * @param {HTMLElement} place
 * @param {Story} story
 * @param {URLSearchParams} chosen
 * @param {(name: string, value: string | null) => void} change null: as at first
 */
export function draw_switches(place, story, chosen, change) {
  place.replaceChildren();
  for (const each of story.switches) {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.name = each.name;
    box.checked = chosen.has(each.name) ? chosen.get(each.name) === "on" : each.on;
    box.addEventListener("change", () => {
      change(each.name, box.checked === each.on ? null : box.checked ? "on" : "off");
    });
    const label = document.createElement("label");
    label.append(box, ` ${each.label}`);
    place.append(label);
  }
}

/**
 * @param {Knob} knob
 * @param {string} value
 */
function input_of(knob, value) {
  if (knob.kind === "choice") {
    const select = document.createElement("select");
    for (const choice of knob.choices ?? []) {
      select.append(make("option", choice));
    }
    select.value = value;
    return select;
  }
  const input = document.createElement("input");
  input.type = knob.kind === "flag" ? "checkbox" : "text";
  input.autocomplete = "off";
  input.checked = value === "on";
  input.value = value;
  return input;
}

/**
 * @param {HTMLElement} place
 * @param {Knob[]} knobs
 * @param {URLSearchParams} chosen
 * @param {(name: string, value: string | null) => void} change null: as at first
 */
export function draw_knobs(place, knobs, chosen, change) {
  place.replaceChildren();
  for (const knob of knobs) {
    const input = input_of(knob, chosen.get(knob.name) ?? knob.value);
    input.name = knob.name;
    input.addEventListener("change", () => {
      const flag = input instanceof HTMLInputElement && input.type === "checkbox";
      const value = flag ? (input.checked ? "on" : "off") : input.value.trim();
      change(knob.name, value === knob.value ? null : value);
    });
    const label = document.createElement("label");
    label.className = "knob";
    label.append(make("span", knob.label), input);
    place.append(label);
  }
}
