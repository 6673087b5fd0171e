// The colours of heat (fixed: the same cm has the same colour in every picture), the reader's choice of what to show,
// and the legend.

import { byId, el, setText, svg } from './dom.js';
import { sideName } from './format.js';

const COLD_CM = 60;
const HOT_CM = 160;
const CEILING_CM = 240;
const HOT_AT = 0.65;

/** The colours on the way from yellow to red, with their places. As in the command line's pictures. */
const STOPS = [
  [0, [255, 240, 158]],
  [0.35, [255, 205, 87]],
  [HOT_AT, [250, 142, 60]],
  [1, [222, 54, 48]],
];

function colourAt(place) {
  const upper = Math.max(1, STOPS.findIndex(([at]) => at >= place));
  const [[from, low], [to, high]] = [STOPS[upper - 1], STOPS[upper]];
  const share = Math.min(1, Math.max(0, (place - from) / (to - from)));
  const hex = (index) =>
    Math.round(low[index] + share * (high[index] - low[index])).toString(16).padStart(2, '0');
  return `#${hex(0)}${hex(1)}${hex(2)}`;
}

function computeTint(heatCm) {
  if (heatCm < COLD_CM) return null;
  if (heatCm < HOT_CM) return colourAt((HOT_AT * (heatCm - COLD_CM)) / (HOT_CM - COLD_CM));
  return colourAt(HOT_AT + ((1 - HOT_AT) * (heatCm - HOT_CM)) / (CEILING_CM - HOT_CM));
}

const TINTS = Array.from({ length: CEILING_CM + 1 }, (_, heatCm) => computeTint(heatCm));

/** @param {number} heatCm @returns {string|null} `#rrggbb`; none below 60 cm, the same from 240 cm up */
export const tint = (heatCm) => TINTS[Math.min(heatCm, CEILING_CM)];

/** @typedef {'off'|'white'|'black'|'both'} Who whose heat is shown */

const WHO = ['off', 'white', 'black', 'both'];

/** What of the heat is shown; kept from visit to visit. */
export const choice = { who: 'both', table: 'display', numbers: true, walls: true };

const KEPT = 'heat';

try {
  const kept = JSON.parse(localStorage.getItem(KEPT) ?? '{}');
  if (WHO.includes(kept.who)) choice.who = kept.who;
  if (['display', 'search'].includes(kept.table)) choice.table = kept.table;
  for (const name of ['numbers', 'walls']) if (typeof kept[name] === 'boolean') choice[name] = kept[name];
} catch {
  // storage is refused or holds something else: the defaults do
}

/** Binds the controls of heat. `changed` is called after each change of the choice. */
export function bindHeat(changed) {
  const update = () => {
    try {
      localStorage.setItem(KEPT, JSON.stringify(choice));
    } catch {
      // the choice then lasts as long as the page
    }
    showChoice();
    changed();
  };
  byId('heat-who').addEventListener('change', (event) => {
    choice.who = event.target.value;
    update();
  });
  byId('heat-table').addEventListener('change', (event) => {
    choice.table = event.target.value;
    update();
  });
  byId('heat-numbers').addEventListener('change', (event) => {
    choice.numbers = event.target.checked;
    update();
  });
  byId('heat-walls').addEventListener('change', (event) => {
    choice.walls = event.target.checked;
    update();
  });
  drawLegend();
  showChoice();
  return {
    /** Goes on to the next kind of heat. */
    next() {
      choice.who = WHO[(WHO.indexOf(choice.who) + 1) % WHO.length];
      update();
    },
  };
}

function showChoice() {
  for (const input of byId('heat-who').querySelectorAll('input')) input.checked = input.value === choice.who;
  for (const input of byId('heat-table').querySelectorAll('input')) {
    input.checked = input.value === choice.table;
    // One player's heat is one table: adding and taking the maximum concern both.
    input.disabled = choice.who !== 'both';
  }
  byId('heat-numbers').checked = choice.numbers;
  byId('heat-walls').checked = choice.walls;
  byId('legend').hidden = choice.who === 'off';
}

/**
 * Says what the shown heat is.
 * @param {string|null} rootMove the move after which it is, or null for the board as it stands
 * @param {boolean} known whether it has come yet
 */
export function describeHeat(rootMove, known) {
  const what =
    choice.who === 'both'
      ? choice.table === 'display' ? 'Hotter of both players' : 'Both players added'
      : `${sideName(choice.who)}'s heat`;
  const after = rootMove ? ` after ${rootMove}` : '';
  setText(byId('heat-of'), choice.who === 'off' ? '' : known ? `${what}${after}` : `${what}${after}: not here yet`);
}

function drawLegend() {
  const width = 180;
  const steps = 30;
  const at = (heatCm) => (width * (heatCm - COLD_CM)) / (CEILING_CM - COLD_CM);
  const ramp = svg('svg', { viewBox: `-16 0 ${width + 44} 26`, width: width + 44, height: 26, role: 'img',
    'aria-label': 'Heat from 60 cm, yellow, over 160 cm, orange and hot, to 240 cm, red' });
  for (let step = 0; step < steps; step += 1) {
    const heatCm = COLD_CM + ((CEILING_CM - COLD_CM) * step) / steps;
    ramp.append(svg('rect', { x: at(heatCm), y: 0, width: width / steps + 0.6, height: 9, fill: computeTint(heatCm) }));
  }
  for (const [heatCm, text] of [[COLD_CM, '60'], [HOT_CM, '160 hot'], [CEILING_CM, '240 cm']]) {
    ramp.append(svg('text', { x: at(heatCm), y: 23, class: 'co' }, text));
  }
  const key = (className, text) => el('span', { class: 'key' }, el('i', { class: className }), text);
  byId('legend').append(ramp, key('key-out', 'wall that is searched'), key('key-void', 'unreachable'));
}
