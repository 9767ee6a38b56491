// The history: every change with its author and reason. It only grows; undo and redo are entries, too.
import { html } from "./vendor/preact.js";
import { Wait } from "./parts.js";
import { change, useAnswer } from "./store.js";
import { count, number, when } from "./words.js";

const ACTIONS = { begin: "Begun", state: "Stated", withdraw: "Withdrawn", undo: "Undone", redo: "Redone" };

function Entry({ store, entry }) {
  const compare = () => {
    store.compared.value = { version: entry.number, before: entry.number - 1 };
    store.view.value = "compare";
  };
  const scores = entry.scores && `accuracy ${number(entry.scores.accuracy, 4)}, kappa ${number(entry.scores.kappa, 4)}, log loss ${number(entry.scores.log_loss, 4)}`;
  return html`<li class=${`entry ${entry.status}`} value=${entry.number}>
    <p><span class="badge">${ACTIONS[entry.action] ?? entry.action}</span> <strong>${entry.title}</strong></p>
    ${(entry.author || entry.reason) && html`<p>${entry.author}${entry.reason && `: ${entry.reason}`}</p>`}
    <p class="muted">${when(entry.when)}; ${count(entry.n_statements, "statement")}; ${scores || entry.status}${entry.message && `: ${entry.message}`}</p>
    ${entry.warnings.map((text) => html`<p class="note" key=${text}>${text}</p>`)}
    ${entry.number > 0 && html`<button type="button" class="small" onClick=${compare} aria-label=${`Compare entry ${entry.number} with the one before`}>Before and after</button>`}
  </li>`;
}

export async function undo(store) {
  if (store.state.value?.can_undo) await tell(store, "undo");
}

export async function redo(store) {
  if (store.state.value?.can_redo) await tell(store, "redo");
}

async function tell(store, name) {
  const message = await change(store, name);
  if (message) store.notice.value = { kind: "mistake", message };
  else store.said.value = name === "undo" ? "Undone." : "Redone.";
}

export function History({ store }) {
  const answer = useAnswer(store, "history", {}, store.stamp.value + (store.progress.value?.state ?? ""));
  if (!answer.value) return html`<${Wait} />`;
  const entries = [...answer.value.entries].reverse();
  const { session, folder } = store.state.value;
  return html`<div class="page">
    <p>${session ? `Kept in ${session} in ${folder}: nothing is lost when this page or the process is closed.` : "This session has no file."}</p>
    <ol class="history" reversed>${entries.map((entry) => html`<${Entry} key=${entry.number} store=${store} entry=${entry} />`)}</ol>
  </div>`;
}
