// Where concepts stand and how edges run: the report's ring and curves, in a plane that can be zoomed and dragged.

const SMALL_RING = 12;
const FULL_RING = 60;
const LINE = 17;
const INWARDS = 0.3;
const LEAST_BEND = 14;
const HEAD = 6;
const ROUNDS = 80;

/** Angles clockwise from the top: equal ones on a small ring, equal heights on a full one, so that names have lines. */
export function ringAngles(count) {
  if (count <= SMALL_RING) return Array.from({ length: count }, (_, k) => Math.PI / 2 - (2 * Math.PI * k) / count);
  const full = Math.min((count - SMALL_RING) / (FULL_RING - SMALL_RING), 1);
  const down = (n) =>
    Array.from({ length: n }, (_, k) => (k + 0.5) / n).map(
      (middle) => (1 - full) * Math.PI * middle + full * Math.acos(1 - 2 * middle),
    );
  const left = Math.floor(count / 2);
  return [...down(count - left), ...down(left).reverse().map((angle) => 2 * Math.PI - angle)].map(
    (angle) => Math.PI / 2 - angle,
  );
}

/** The order around the ring that keeps strong edges short: angles in the plane of the two slowest eigenvectors. */
export function ringOrder(weights) {
  const n = weights.length;
  const size = (i, j) => (i === j ? 0 : Math.abs(weights[i][j]) + Math.abs(weights[j][i]));
  const degree = weights.map((_, i) => weights.reduce((sum, _row, j) => sum + size(i, j), 0));
  const linked = [...degree.keys()].filter((i) => degree[i] > 0);
  const root = degree.map((d) => Math.sqrt(d) || 1);
  const matrix = linked.map((i) => linked.map((j) => size(i, j) / root[i] / root[j]));
  const first = unit(linked.map((i) => root[i]));
  const second = slowest(matrix, [first], 1);
  const third = slowest(matrix, [first, second], 2);
  const angle = new Map(linked.map((i, k) => [i, Math.atan2(third[k], second[k])]));
  const alone = [...Array(n).keys()].filter((i) => degree[i] === 0);
  return [...linked.sort((i, j) => angle.get(i) - angle.get(j) || i - j), ...alone];
}

function slowest(matrix, known, seed) {
  let vector = matrix.map((_, k) => Math.sin(seed * (k + 1) * 2.399));
  for (let round = 0; round < ROUNDS; round += 1) {
    // Half the way to the product: eigenvalues between 0 and 1, of which the largest wins.
    vector = matrix.map((row, i) => vector[i] + row.reduce((sum, value, j) => sum + value * vector[j], 0));
    for (const one of known) {
      const along = one.reduce((sum, value, k) => sum + value * vector[k], 0);
      vector = vector.map((value, k) => value - along * one[k]);
    }
    vector = unit(vector);
  }
  return vector;
}

function unit(vector) {
  const length = Math.hypot(...vector);
  return length ? vector.map((value) => value / length) : vector;
}

export function ringRadius(count) {
  return Math.max(150, (count * LINE) / 4 + 20);
}

/** Points on the ring for the concepts of a network, in the order of its concepts. */
export function ringPoints(weights) {
  const angles = ringAngles(weights.length);
  const radius = ringRadius(weights.length);
  const points = Array(weights.length);
  ringOrder(weights).forEach((concept, k) => {
    points[concept] = { x: radius * Math.cos(angles[k]), y: -radius * Math.sin(angles[k]) };
  });
  return points;
}

/** The path from the rim of one node to just before that of another, bent to the centre and to its right. */
export function curve(from, to, centre) {
  if (from === to) return loop(from, centre);
  const along = [to.x - from.x, to.y - from.y];
  const across = unit([-along[1], along[0]]);
  const bend = Math.max(LEAST_BEND, 0.16 * Math.hypot(...along));
  const middle = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  const control = [0, 1].map((d) => middle[d] + INWARDS * ([centre.x, centre.y][d] - middle[d]) + bend * across[d]);
  const out = unit([control[0] - from.x, control[1] - from.y]);
  const back = unit([to.x - control[0], to.y - control[1]]);
  const end = to.radius + HEAD;
  const text = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return (
    `M${text(from.x + from.radius * out[0], from.y + from.radius * out[1])}` +
    `Q${text(...control)} ${text(to.x - end * back[0], to.y - end * back[1])}`
  );
}

function loop(at, centre) {
  const [x, y] = unit([at.x - centre.x, at.y - centre.y]);
  const far = at.radius + 26;
  const [left, right] = [-0.6, 0.6].map((turn) => [x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn)]);
  const text = ([a, b], reach) => `${(at.x + reach * a).toFixed(1)} ${(at.y + reach * b).toFixed(1)}`;
  return `M${text(left, at.radius)}C${text(left, far)} ${text(right, far)} ${text(right, at.radius + HEAD)}`;
}

/** Round numbers from below `low` to above `high`, about `n` of them. */
export function niceTicks(low, high, n = 4) {
  const span = high - low || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(span / n));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= (span / n) * (1 - 1e-9));
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  return Array.from({ length: last - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}
