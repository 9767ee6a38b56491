// The inner weights as a matrix: a grid of which only the cells in sight are in the page, so that 200 concepts are fluid.
//
// Easy to get wrong: a focused cell that is scrolled away would take the focus with it. The grid itself has the focus,
// and names its active cell.
import { html, useEffect, useId, useLayoutEffect, useRef, useSignal } from "./vendor/preact.js";
import { ordered } from "./edges.js";
import { ringOrder } from "./geometry.js";
import { number, shortened } from "./words.js";

const WIDTH = 44;
const HEIGHT = 24;
const SPARE = 3;
const STRONGEST = 0.6;

function windowOf({ left, top, width, height }, n, side, head) {
  const range = (start, room, size) => [
    Math.max(0, Math.floor(start / size) - SPARE),
    Math.min(n, Math.ceil((start + room) / size) + SPARE),
  ];
  return [...range(top, height - head, HEIGHT), ...range(left, width - side, WIDTH)];
}

function short(weight) {
  return Math.abs(weight) < 0.005 ? (weight ? "~0" : "") : weight.toFixed(2).replace(/^(-?)0\./, "$1.").replace("-", "−");
}

function Cell({ id, net, i, j, at, active, stated, largest, onPick }) {
  const weight = net.weights[i][j];
  const share = STRONGEST * Math.min(Math.abs(weight) / (largest || 1), 1);
  const name = `${net.concepts[i].name} → ${net.concepts[j].name}: ${number(weight)}${stated ? ", stated" : ""}`;
  return html`<div role="gridcell" id=${id} class=${`cell${active ? " active" : ""}${stated ? " stated" : ""}`} aria-colindex=${at + 2}
    aria-label=${name} aria-selected=${active ? "true" : "false"} title=${name} style=${{ left: `${at * WIDTH}px` }} onClick=${onPick}>
    <i class=${weight < 0 ? "lowers" : "raises"} style=${{ opacity: share }}></i><span>${short(weight)}</span></div>`;
}

/** Scrolling so far that the active cell is in sight beside the headings. */
function show(box, { row, column }, side, head) {
  const [x, y] = [column * WIDTH, row * HEIGHT];
  if (x < box.scrollLeft) box.scrollLeft = x;
  if (x + WIDTH > box.scrollLeft + box.clientWidth - side) box.scrollLeft = x + WIDTH - box.clientWidth + side;
  if (y < box.scrollTop) box.scrollTop = y;
  if (y + HEIGHT > box.scrollTop + box.clientHeight - head) box.scrollTop = y + HEIGHT - box.clientHeight + head;
}

function useSight(box, lens, side, head) {
  const sight = useSignal({ left: 0, top: 0, width: 900, height: 600 });
  const look = () => {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = box.current;
    sight.value = { left: scrollLeft, top: scrollTop, width: clientWidth, height: clientHeight };
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    show(box.current, lens.cell.value, side, head);
    look();
    return () => observer.disconnect();
  }, []);
  return [sight, look];
}

function gridKeys(lens, n, box, side, head, pick) {
  return (event) => {
    const { row, column } = lens.cell.value;
    const page = Math.max(1, Math.floor((box.current.clientHeight - head) / HEIGHT) - 1);
    const to = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - page, column],
      PageDown: [row + page, column],
      Home: [event.ctrlKey ? 0 : row, 0],
      End: [event.ctrlKey ? n - 1 : row, n - 1],
    }[event.key];
    if (to) {
      const within = (k) => Math.min(Math.max(k, 0), n - 1);
      lens.cell.value = { row: within(to[0]), column: within(to[1]) };
      show(box.current, lens.cell.value, side, head);
    } else if (event.key === "Enter" || event.key === " ") pick(row, column, true);
    else return;
    event.preventDefault();
  };
}

function Headings({ net, order, from, to, side, head, active, pick }) {
  return html`<div class="headings" role="row" aria-rowindex="1" style=${{ height: `${head}px` }}>
    <div class="corner" role="columnheader" aria-colindex="1" style=${{ width: `${side}px` }}><span>from ↓ to →</span></div>
    ${order.slice(from, to).map((j, k) => {
      const { name } = net.concepts[j];
      return html`<div key=${name} role="columnheader" class=${from + k === active ? "on" : ""} aria-colindex=${from + k + 2} title=${name}
        style=${{ left: `${side + (from + k) * WIDTH}px`, width: `${WIDTH}px` }} onClick=${() => pick(j)}><span>${shortened(name, 17)}</span></div>`;
    })}
  </div>`;
}

export function Matrix({ store, lens, onPickConcept, onPickEdge }) {
  const box = useRef(null);
  const id = useId();
  const net = store.net.value;
  const order = ordered(net, lens.order.value, ringOrder);
  const narrow = lens.size.value.width < 600;
  const [side, head] = [narrow ? 104 : 172, narrow ? 104 : 128];
  const [sight, look] = useSight(box, lens, side, head);
  const [top, bottom, left, right] = windowOf(sight.value, order.length, side, head);
  const active = lens.cell.value;
  useEffect(() => {
    const { source, target } = lens.chosen.value;
    if (!(source >= 0) || !(target >= 0)) return;
    lens.cell.value = { row: order.indexOf(source), column: order.indexOf(target) };
    show(box.current, lens.cell.value, side, head);
  }, [lens.chosen.value]);
  const pick = (row, column, byKey = false) => {
    lens.cell.value = { row, column };
    onPickEdge({ source: order[row], target: order[column] }, byKey);
  };
  const inSight = active.row >= top && active.row < bottom && active.column >= left && active.column < right;
  return html`<div ref=${box} class="matrix" role="grid" tabindex="0" onScroll=${look} aria-label="Inner weights: rows act on columns; Enter selects an edge"
    aria-rowcount=${order.length + 1} aria-colcount=${order.length + 1} aria-activedescendant=${inSight ? `${id}-${active.row}-${active.column}` : undefined}
    onKeyDown=${gridKeys(lens, order.length, box, side, head, pick)}>
    <div class="whole" role="presentation" style=${{ width: `${side + order.length * WIDTH}px`, height: `${head + order.length * HEIGHT}px` }}>
      <${Headings} net=${net} order=${order} from=${left} to=${right} side=${side} head=${head} active=${active.column} pick=${onPickConcept} />
      ${order.slice(top, bottom).map((i, k) => {
        const row = top + k;
        const { name } = net.concepts[i];
        return html`<div key=${name} role="row" class="line" aria-rowindex=${row + 2} style=${{ top: `${head + row * HEIGHT}px` }}>
          <div role="rowheader" aria-colindex="1" class=${row === active.row ? "on" : ""} title=${name} style=${{ width: `${side}px` }}
            onClick=${() => onPickConcept(i)}>${shortened(name, narrow ? 13 : 21)}</div>
          <div class="cells" role="presentation" style=${{ left: `${side}px` }}>${order.slice(left, right).map((j, c) => {
            const column = left + c;
            return html`<${Cell} key=${net.concepts[j].name} id=${`${id}-${row}-${column}`} net=${net} i=${i} j=${j} at=${column}
              active=${row === active.row && column === active.column} stated=${store.stated.value.has(`${i} ${j}`)}
              largest=${lens.largest.value} onPick=${() => pick(row, column)} />`;
          })}</div>
        </div>`;
      })}
    </div>
  </div>`;
}
