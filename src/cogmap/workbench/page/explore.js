// The view of map and matrix: their controls, and the panel beside them.
import { html, useRef } from "./vendor/preact.js";
import { MOST_DRAWN, STEPS } from "./edges.js";
import { fit, MapCanvas, placesOf, Pointed, zoom } from "./map.js";
import { ringPoints } from "./geometry.js";
import { Matrix } from "./matrix.js";
import { Knowledge, Panel } from "./panel.js";
import { Choice, Input, Select } from "./parts.js";
import { count, number } from "./words.js";

const ORDERS = [["relevance", "by relevance"], ["linked", "linked beside each other"], ["data", "as in the data"]];

function Threshold({ lens }) {
  const text = `${lens.strong.value.length} of ${count(lens.edges.value.length, "edge")}, weights of at least ${number(lens.least.value, 2)}`;
  const over = lens.strong.value.length > MOST_DRAWN ? `; the strongest ${MOST_DRAWN} are drawn` : "";
  return html`<div class="threshold"><${Input} label="Threshold" type="range" min="0" max=${STEPS} value=${lens.step.value}
      onInput=${(value) => (lens.threshold.value = Number(value))} aria-valuetext=${text} />
    <output>${text}${over}</output></div>`;
}

function Search({ store, lens, pick }) {
  const found = lens.search.value.trim() ? lens.lit.value : null;
  const first = (event) => {
    if (event.key === "Enter" && found?.size) pick([...found][0], true);
    if (event.key === "Escape") lens.search.value = "";
  };
  return html`<${Input} label="Search" type="search" value=${lens.search.value} placeholder="a concept" onKeyDown=${first}
      onInput=${(text) => (lens.search.value = text)} />
    <span class="muted" role="status">${found ? `${found.size} of ${store.net.value.concepts.length}` : ""}</span>`;
}

function MapTools({ store, lens }) {
  const again = () => {
    const points = ringPoints(store.net.value.weights);
    placesOf(store, store.net.value).forEach((place, k) => (place.value = points[k]));
    fit(store, lens);
  };
  const centred = lens.chosen.value.concept >= 0;
  return html`<label class="check"><input type="checkbox" checked=${lens.near.value} disabled=${!centred}
      onChange=${(event) => (lens.near.value = event.currentTarget.checked)} />Only the neighbourhood</label>
    <div class="choice" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom out" onClick=${() => zoom(lens, 0.8)}>−</button>
      <button type="button" aria-label="Zoom in" onClick=${() => zoom(lens, 1.25)}>+</button>
      <button type="button" onClick=${() => fit(store, lens)}>Fit</button>
      <button type="button" onClick=${again}>Ring</button>
    </div>`;
}

function Tools({ store, lens, pick }) {
  const networks = store.map.value.networks;
  const chosen = (value) => {
    store.network.value = Number(value);
    lens.camera.value = null;
    queueMicrotask(() => fit(store, lens));
  };
  return html`<div class="tools" role="group" aria-label="What is shown">
    <${Choice} label="Form" value=${lens.form.value} options=${[["map", "Map"], ["matrix", "Matrix"]]} onChange=${(form) => (lens.form.value = form)} />
    ${networks.length > 1 && html`<${Select} label="Network" value=${store.network.value} onChange=${chosen}
      options=${networks.map((one, k) => [k, `${one.name || `network ${k + 1}`} (${one.concepts.length})`])} />`}
    <${Search} store=${store} lens=${lens} pick=${pick} />
    ${lens.form.value === "map" ? html`<${Threshold} lens=${lens} /><${MapTools} store=${store} lens=${lens} />`
      : html`<${Select} label="Order" value=${lens.order.value} options=${ORDERS} onChange=${(order) => (lens.order.value = order)} />`}
  </div>`;
}

function Key() {
  return html`<p class="key" title="Larger nodes are more relevant"><svg viewBox="0 0 34 10" aria-hidden="true"><path class="keyline raises" d="M1 5H33" /></svg>raises
    <svg viewBox="0 0 34 10" aria-hidden="true"><path class="keyline lowers" d="M1 5H33" /></svg>lowers
    <svg viewBox="0 0 34 10" aria-hidden="true"><path class="keyline stated" d="M1 5H33" /></svg>stated</p>`;
}

export function Explore({ store, lens }) {
  const stage = useRef(null);
  const name = (k) => store.net.value.concepts[k].name;
  const show = (selected, byKey) => {
    store.selected.value = selected;
    if (byKey) store.focus.value += 1;
  };
  const pickConcept = (k, byKey = false) => {
    lens.active.value = k;
    show({ concept: name(k) }, byKey);
  };
  const pickEdge = ({ source, target }, byKey = false) => show({ source: name(source), target: name(target) }, byKey === true);
  const back = () => stage.current.querySelector(".matrix, .node[tabindex='0']")?.focus();
  if (!store.net.value) return html`<p>This model has no map of inner weights.</p>`;
  const shared = { store, lens, onPickConcept: pickConcept, onPickEdge: pickEdge };
  return html`<div class="explore">
    <div class="stage" ref=${stage}>
      <${Tools} store=${store} lens=${lens} pick=${pickConcept} />
      ${lens.form.value === "map"
        ? html`<${MapCanvas} key=${store.net.value.name} ...${shared} /><div class="below"><${Pointed} store=${store} lens=${lens} /><${Key} /></div>`
        : html`<${Matrix} key=${`${store.net.value.name} ${lens.order.value}`} ...${shared} />`}
    </div>
    <aside class="side"><${Panel} store=${store} lens=${lens} back=${back} /><${Knowledge} store=${store} /></aside>
  </div>`;
}
