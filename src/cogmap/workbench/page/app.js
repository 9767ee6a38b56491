// The workbench: a heading with the state of the model, and its views. `mount` puts it into an element.
import { html, render, useEffect, useMemo, useRef, useSignal } from "./vendor/preact.js";
import { Compare } from "./compare.js";
import { createLens } from "./edges.js";
import { Explore } from "./explore.js";
import { History, redo, undo } from "./history.js";
import { Maps } from "./maps.js";
import { Out } from "./out.js";
import { Rows } from "./rows.js";
import { ask, createStore, refresh } from "./store.js";
import { WhatIf } from "./whatif.js";
import { count } from "./words.js";

const VIEWS = [
  ["map", "Map", Explore],
  ["whatif", "What if", WhatIf],
  ["compare", "Before and after", Compare],
  ["rows", "Rows", Rows],
  ["history", "History", History],
  ["maps", "Maps", Maps],
  ["out", "Files", Out],
];
const THEMES = { auto: "As the system", light: "Light", dark: "Dark" };
const KEPT = "cogmap-workbench-theme";

function Tabs({ store, label }) {
  const list = useRef(null);
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = VIEWS.findIndex(([key]) => key === store.view.value);
    const to = step ? (at + step + VIEWS.length) % VIEWS.length : { Home: 0, End: VIEWS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    store.view.value = VIEWS[to][0];
    list.current.children[to].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label="Views" ref=${list} onKeyDown=${onKeyDown}>${VIEWS.map(([key, text]) => {
    const on = store.view.value === key;
    return html`<button type="button" role="tab" key=${key} id=${`${label}-tab-${key}`} aria-controls=${on ? `${label}-panel` : undefined}
      aria-selected=${on ? "true" : "false"} tabindex=${on ? 0 : -1} onClick=${() => (store.view.value = key)}>${text}</button>`;
  })}</div>`;
}

function Refit({ store }) {
  const progress = store.progress.value;
  const { version, model_version } = store.state.value;
  const tell = async (name) => {
    const got = await ask(store, name);
    if (got) await refresh(store);
  };
  if (progress.state === "running") {
    const left = progress.seconds_left === null ? "" : `, about ${Math.max(1, Math.round(progress.seconds_left))} s left`;
    return html`<div class="refit"><progress max=${progress.total || 1} value=${progress.done} aria-label="Refit"></progress>
      <span>${progress.step}${left}</span><button type="button" onClick=${() => tell("cancel")}>Cancel</button></div>`;
  }
  const late = progress.state === "cancelled" || progress.state === "failed" || model_version < version;
  if (!late) return html`<div class="refit"><span class="muted">Model of entry ${model_version}</span></div>`;
  return html`<div class="refit late"><span>${progress.message || `The model is that of entry ${model_version}, not of ${version}.`}</span>
    <button type="button" onClick=${() => tell("refit")}>Fit again</button></div>`;
}

/** A sandboxed frame may not read or keep anything: the page works without. */
function kept(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

function useTheme(root) {
  const theme = useSignal(kept((storage) => storage.getItem(KEPT)) ?? "auto");
  useEffect(() => {
    root.dataset.theme = theme.value;
    kept((storage) => storage.setItem(KEPT, theme.value));
  }, [theme.value]);
  return theme;
}

function Header({ store, root, label }) {
  const theme = useTheme(root);
  const { title, target, kind, n_rows, classes, can_undo, can_redo } = store.state.value;
  const next = () => {
    const keys = Object.keys(THEMES);
    theme.value = keys[(keys.indexOf(theme.value) + 1) % keys.length];
  };
  return html`<header class="top">
    <div class="title"><h1>${title}</h1><p class="muted">${kind}${target === null ? "" : ` of ${target}`}: ${count(n_rows, "row")}, ${classes.length} classes</p></div>
    <${Refit} store=${store} />
    <div class="actions"><button type="button" disabled=${!can_undo} onClick=${() => undo(store)} title="Ctrl+Z">Undo</button>
      <button type="button" disabled=${!can_redo} onClick=${() => redo(store)} title="Ctrl+Shift+Z">Redo</button>
      <button type="button" onClick=${next} aria-label=${`Colours: ${THEMES[theme.value]}`} title=${`Colours: ${THEMES[theme.value]}`}>◐</button></div>
    <${Tabs} store=${store} label=${label} />
  </header>`;
}

function Notice({ store }) {
  const notice = store.notice.value;
  return html`<div class="notices" role="alert">${notice && html`<p class="notice">${notice.message}
    <button type="button" class="small" onClick=${() => (store.notice.value = null)}>Close</button></p>`}</div>`;
}

/** Undo and redo by keys, and a look at the session when one comes back from another tab. */
function useWindow(store, root) {
  useEffect(() => {
    const onKey = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.target.closest?.("input, textarea, select")) return;
      const key = event.key.toLowerCase();
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      (key === "y" || event.shiftKey ? redo : undo)(store);
    };
    const onFocus = () => document.visibilityState === "visible" && store.state.value && refresh(store);
    root.addEventListener("keydown", onKey);
    document.addEventListener("visibilitychange", onFocus);
    return () => {
      root.removeEventListener("keydown", onKey);
      document.removeEventListener("visibilitychange", onFocus);
    };
  }, []);
}

function Workbench({ store, root }) {
  const lens = useMemo(() => createLens(store), []);
  const label = "workbench";
  useWindow(store, root);
  useEffect(() => {
    refresh(store);
  }, []);
  if (!store.state.value) {
    return html`<main class="closed"><h1>cogmap workbench</h1><p role="status">${store.notice.value?.message ?? "Reading the model …"}</p></main>`;
  }
  const [, title, View] = VIEWS.find(([key]) => key === store.view.value);
  return html`<${Header} store=${store} root=${root} label=${label} />
    <${Notice} store=${store} />
    <p class="unseen" role="status">${store.said.value}</p>
    <main><div id=${`${label}-panel`} class="view" role="tabpanel" aria-labelledby=${`${label}-tab-${store.view.value}`}>
      <h2 class="unseen">${title}</h2><${View} store=${store} lens=${lens} /></div></main>`;
}

export function mount(root, call) {
  const store = createStore(call);
  root.classList.add("cogmap-workbench");
  render(html`<${Workbench} store=${store} root=${root} />`, root);
  return () => {
    store.gone = true;
    clearTimeout(store.timer);
    render(null, root);
    root.classList.remove("cogmap-workbench");
  };
}
