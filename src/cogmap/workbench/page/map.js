// The cognitive map as a drawing: concepts that can be dragged, edges that can be clicked, a plane that can be zoomed.
//
// Positions and the camera are signals bound to the attributes, so that a drag moves one node and its edges without
// going through the others.
import { computed, html, signal, useEffect, useId, useLayoutEffect, useMemo, useRef } from "./vendor/preact.js";
import { isLit } from "./edges.js";
import { curve, ringPoints, ringRadius } from "./geometry.js";
import { relevant, shortened, signed } from "./words.js";

const LEAST_NODE = 5;
const LARGEST_NODE = 15;
const FONT = 12.5;
const NAME = 26;
const CLICK = 4;

/** Places of the concepts of a network, kept by name when the model changes. */
export function placesOf(store, net) {
  const known = store.places.get(net.name) ?? new Map();
  const points = net.concepts.every((concept) => known.has(concept.name)) ? [] : ringPoints(net.weights);
  const places = net.concepts.map((concept, k) => known.get(concept.name) ?? signal(points[k]));
  store.places.set(net.name, new Map(net.concepts.map((concept, k) => [concept.name, places[k]])));
  return places;
}

export function fit(store, lens) {
  const { width, height } = lens.size.value;
  if (!width || !store.net.value) return;
  const points = placesOf(store, store.net.value).map((place) => place.peek());
  const radius = ringRadius(points.length) * 0.2;
  const [left, right] = [Math.min(-radius, ...points.map((p) => p.x)), Math.max(radius, ...points.map((p) => p.x))];
  const [top, bottom] = [Math.min(-radius, ...points.map((p) => p.y)), Math.max(radius, ...points.map((p) => p.y))];
  const names = width < 600 ? 85 : 180;
  const scale = Math.min((width - 2 * names) / (right - left), (height - 60) / (bottom - top), 2.5);
  lens.camera.value = { x: (left + right) / 2, y: (top + bottom) / 2, scale: Math.max(scale, 0.05) };
}

export function zoom(lens, factor, at) {
  const { x, y, scale } = lens.camera.value;
  const { width, height } = lens.size.value;
  const wanted = Math.min(Math.max(scale * factor, 0.05), 12);
  const offset = at ? [at.x - width / 2, at.y - height / 2] : [0, 0];
  lens.camera.value = {
    x: x + offset[0] / scale - offset[0] / wanted,
    y: y + offset[1] / scale - offset[1] / wanted,
    scale: wanted,
  };
}

function onScreen(lens, point) {
  const { width, height } = lens.size.value;
  const { x, y, scale } = lens.camera.value ?? { x: 0, y: 0, scale: 1 };
  return { x: (point.x - x) * scale + width / 2, y: (point.y - y) * scale + height / 2 };
}

/** For each concept its place on the screen and the radius of its node, as signals. */
function spotsOf(store, lens, net) {
  const most = Math.max(...net.concepts.map((concept) => concept.relevance)) || 1;
  const places = placesOf(store, net);
  return net.concepts.map((concept, k) => {
    const grown = LEAST_NODE + (LARGEST_NODE - LEAST_NODE) * Math.sqrt(Math.max(concept.relevance, 0) / most);
    return computed(() => {
      const zoomed = Math.min(Math.max(lens.camera.value?.scale ?? 1, 0.5), 1.6);
      return { ...onScreen(lens, places[k].value), radius: grown * zoomed };
    });
  });
}

/** Names that have room: by turns, those that are lit first, then the most relevant. */
function labels(lens, spots, net) {
  const lit = lens.lit.value;
  const near = lens.neighbours.value;
  const order = [...spots.keys()].filter((k) => !near || near.has(k));
  const rank = (k) => (lit?.has(k) ? 2 : 0) + net.concepts[k].relevance;
  order.sort((i, j) => rank(j) - rank(i));
  const centre = onScreen(lens, { x: 0, y: 0 });
  const { width } = lens.size.value;
  const boxes = [];
  const found = new Map();
  for (const k of order) {
    const { x, y, radius } = spots[k].value;
    const right = x >= centre.x;
    const room = (right ? width - x : x) - radius - 10;
    const text = shortened(net.concepts[k].name, Math.max(5, Math.min(lit?.has(k) ? 2 * NAME : NAME, Math.floor(room / 6.7))));
    const start = right ? x + radius + 4 : x - radius - 4 - 6.7 * text.length;
    const box = { left: start, right: start + 6.7 * text.length, y };
    if (boxes.some((one) => Math.abs(one.y - y) < FONT + 1 && one.left < box.right && box.left < one.right)) continue;
    boxes.push(box);
    found.set(k, { x: right ? x + radius + 4 : x - radius - 4, y: y + FONT / 3, anchor: right ? "start" : "end", text });
  }
  return found;
}

/** A signal that follows other signals, made anew when what it closes over changes. */
function useDerived(follow, closed) {
  return useMemo(() => computed(follow), closed);
}

function Edge({ lens, edge, spots, centre, stated, marker, onPick }) {
  const path = useDerived(() => curve(spots[edge.source].value, spots[edge.target].value, centre.value), [spots, edge.key]);
  const kind = edge.weight < 0 ? "lowers" : "raises";
  const look = useDerived(() => {
    const lit = isLit(lens, edge);
    return `edge ${edge.weight ? kind : "none"}${lit ? " lit" : lit === false ? " dim" : ""}${stated ? " stated" : ""}`;
  }, [edge, stated]);
  const width = 1 + (4 * Math.abs(edge.weight)) / (lens.largest.value || 1);
  const over = () => (lens.hovered.value = { edge });
  return html`<g class=${look} onPointerEnter=${over} onPointerLeave=${() => (lens.hovered.value = null)}
    onClick=${() => onPick(edge)} data-source=${edge.source} data-target=${edge.target}>
    <path class="line" d=${path} stroke-width=${width.toFixed(2)} marker-end=${`url(#${marker}-${kind})`} />
    <path class="hit" d=${path} />
  </g>`;
}

function Node({ lens, index, concept, spot, selected, onKey, onPick }) {
  const look = useDerived(() => {
    const lit = lens.lit.value;
    const hidden = lens.neighbours.value && !lens.neighbours.value.has(index);
    return `node${hidden ? " hidden" : ""}${!lit ? "" : lit.has(index) ? " lit" : " dim"}${selected ? " selected" : ""}`;
  }, [index, selected]);
  const [x, y, radius] = ["x", "y", "radius"].map((part) => useDerived(() => spot.value[part].toFixed(1), [spot]));
  const over = () => (lens.hovered.value = { concept: index });
  return html`<g class=${look} data-concept=${index} role="button" aria-pressed=${selected ? "true" : "false"}
    tabindex=${lens.active.value === index ? 0 : -1} aria-label=${`${concept.name}, ${relevant(concept.relevance)}`}
    onPointerEnter=${over} onPointerLeave=${() => (lens.hovered.value = null)} onClick=${() => onPick(index)}
    onFocus=${over} onBlur=${() => (lens.hovered.value = null)} onKeyDown=${(event) => onKey(event, index)}>
    <circle cx=${x} cy=${y} r=${radius} />
  </g>`;
}

function Labels({ lens, spots, net }) {
  const found = labels(lens, spots, net);
  const lit = lens.lit.value;
  return html`<g class="names" aria-hidden="true">
    ${[...found].map(
      ([k, at]) => html`<text key=${k} class=${lit && !lit.has(k) ? "dim" : ""} x=${at.x.toFixed(1)} y=${at.y.toFixed(1)}
        text-anchor=${at.anchor}>${at.text}</text>`,
    )}
  </g>`;
}

function Heads({ marker }) {
  return html`<defs>${["raises", "lowers"].map(
    (kind) => html`<marker id=${`${marker}-${kind}`} viewBox="0 0 10 10" refX="1" refY="5" markerWidth="8" markerHeight="8"
      markerUnits="userSpaceOnUse" orient="auto"><path class=${`head ${kind}`} d="M0 0L10 5L0 10z" /></marker>`,
  )}</defs>`;
}

/** Dragging of nodes and of the plane; a movement of a few pixels is a click. */
function useDragging(store, lens, box) {
  const held = useRef(null);
  const moved = useRef(false);
  const down = (event) => {
    if (event.button !== 0) return;
    const node = event.target.closest("[data-concept]");
    const places = placesOf(store, store.net.value);
    const place = node ? places[Number(node.dataset.concept)] : null;
    held.current = { x: event.clientX, y: event.clientY, place, from: place ? place.peek() : lens.camera.peek() };
    moved.current = false;
  };
  const move = (event) => {
    if (!held.current) return;
    const { x, y, place, from } = held.current;
    const [right, under] = [event.clientX - x, event.clientY - y];
    if (!moved.current && Math.hypot(right, under) < CLICK) return;
    if (!moved.current) box.current.setPointerCapture(event.pointerId);
    moved.current = true;
    const { scale } = lens.camera.value;
    if (place) place.value = { x: from.x + right / scale, y: from.y + under / scale };
    else lens.camera.value = { ...from, x: from.x - right / scale, y: from.y - under / scale };
  };
  const up = () => (held.current = null);
  // Capture turns the click that ends a drag to the plane; it must not select or deselect anything.
  const swallow = (event) => {
    if (!moved.current) return;
    event.stopPropagation();
    moved.current = false;
  };
  return { onPointerDown: down, onPointerMove: move, onPointerUp: up, onPointerCancel: up, onClickCapture: swallow };
}

function useSize(store, lens, box) {
  useLayoutEffect(() => {
    const measure = () => {
      const { width, height } = box.current.getBoundingClientRect();
      const first = !lens.size.peek().width;
      lens.size.value = { width, height };
      if (first || !lens.camera.peek()) fit(store, lens);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    const wheel = (event) => {
      event.preventDefault();
      const { left, top } = box.current.getBoundingClientRect();
      zoom(lens, Math.exp(-event.deltaY / 400), { x: event.clientX - left, y: event.clientY - top });
    };
    box.current.addEventListener("wheel", wheel, { passive: false });
    const element = box.current;
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);
}

/** Keys on a node: arrows go to the next one, with Alt they move it; Enter selects; + − 0 zoom. */
function nodeKeys(store, lens, box, ring, pick) {
  return (event, index) => {
    const step = { ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowUp: [0, -1] }[event.key];
    const zooms = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
    if (step && event.altKey) {
      const place = placesOf(store, store.net.value)[index];
      const way = 12 / lens.camera.value.scale;
      place.value = { x: place.value.x + way * step[0], y: place.value.y + way * step[1] };
    } else if (step) {
      const at = ring.indexOf(index);
      const next = ring[(at + step[0] + step[1] + ring.length) % ring.length];
      lens.active.value = next;
      requestAnimationFrame(() => box.current.querySelector(`[data-concept="${next}"]`)?.focus());
    } else if (zooms) zoom(lens, zooms);
    else if (event.key === "0") fit(store, lens);
    else if (event.key === "Enter" || event.key === " ") pick(index, true);
    else if (event.key === "Escape") store.selected.value = null;
    else return;
    event.preventDefault();
  };
}

export function MapCanvas({ store, lens, onPickConcept, onPickEdge }) {
  const box = useRef(null);
  const marker = useId();
  const net = store.net.value;
  const spots = useRef({});
  if (spots.current.net !== net) spots.current = { net, all: spotsOf(store, lens, net) };
  const all = spots.current.all;
  const centre = useDerived(() => onScreen(lens, { x: 0, y: 0 }), []);
  useSize(store, lens, box);
  useEffect(() => {
    if (lens.active.value >= net.concepts.length) lens.active.value = 0;
  }, [net]);
  const around = (k) => Math.atan2(-all[k].peek().y + centre.peek().y, all[k].peek().x - centre.peek().x);
  const ring = [...all.keys()].sort((i, j) => around(j) - around(i));
  const near = lens.neighbours.value;
  const onKey = nodeKeys(store, lens, box, near ? ring.filter((k) => near.has(k)) : ring, onPickConcept);
  const selected = lens.chosen.value;
  const drag = useDragging(store, lens, box);
  const away = (event) => event.target === box.current && (store.selected.value = null);
  return html`<svg ref=${box} class="network" role="group" aria-label="Cognitive map: arrow keys go from concept to concept, Enter selects one"
    ...${drag} onClick=${away}>
    <${Heads} marker=${marker} />
    <g aria-hidden="true">${lens.shown.value.map(
      (edge) => html`<${Edge} key=${`${edge.key} ${edge.weight}`} lens=${lens} edge=${edge} spots=${all} centre=${centre} marker=${marker}
        stated=${store.stated.value.has(edge.key)} onPick=${onPickEdge} />`,
    )}</g>
    <g>${net.concepts.map(
      (concept, k) => html`<${Node} key=${concept.name} lens=${lens} index=${k} concept=${concept} spot=${all[k]}
        selected=${selected.concept === k} onKey=${onKey} onPick=${onPickConcept} />`,
    )}</g>
    <${Labels} lens=${lens} spots=${all} net=${net} />
  </svg>`;
}

/** What is pointed at, in a sentence below the map. */
export function Pointed({ store, lens }) {
  const hovered = lens.hovered.value;
  const net = store.net.value;
  let text = "Point at a concept or an edge; click to select it.";
  if (hovered?.edge) {
    const { source, target, weight } = hovered.edge;
    const does = weight < 0 ? "lowers" : weight > 0 ? "raises" : "has no weight on";
    text = `${net.concepts[source].name} ${does} ${net.concepts[target].name}: weight ${signed(weight)}.`;
  } else if (hovered?.concept !== undefined && net.concepts[hovered.concept]) {
    const { name, relevance } = net.concepts[hovered.concept];
    const out = lens.shown.value.filter((edge) => edge.source === hovered.concept).length;
    const into = lens.shown.value.filter((edge) => edge.target === hovered.concept).length;
    text = `${name}: ${relevant(relevance)}; ${out} edges out, ${into} in at this threshold.`;
  }
  return html`<p class="pointed">${text}</p>`;
}
