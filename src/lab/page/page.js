// Small things that all modules need: elements by id, and questions to the lab.

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) {
    throw new Error(`there is no ${kind.name} #${id}`);
  }
  return found;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} text
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

/**
 * The answer as an object; throws with the lab's own line if it refuses.
 * @param {string} path
 * @param {RequestInit} [how]
 * @returns {Promise<any>}
 */
export async function ask(path, how) {
  let response;
  try {
    response = await fetch(path, how);
  } catch {
    throw new Error("the lab does not answer: is it still running?");
  }
  const answer = await response.json();
  if (!response.ok) {
    throw new Error(answer.error);
  }
  return answer;
}

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(3)} s`;
}

/** @param {unknown} error */
export function line(error) {
  return error instanceof Error ? error.message : String(error);
}
