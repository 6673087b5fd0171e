// Numbers, durations and scores in words, as the command line writes them.

/**
 * A score from White's view, as the wire has it: one of the three fields is set.
 * @typedef {{cm?: number, white_wins_in?: number, black_wins_in?: number}} Score
 *   cm: centi-squares (100 is one step); the others: plies until the win
 * @typedef {'exact'|'lower'|'upper'} Bound of a score from White's view
 */

const GROUPED = new Intl.NumberFormat('en-US');

/** 1234567 as `1,234,567`. */
export const grouped = (number) => GROUPED.format(Math.round(number));

/** 1234567 as `1.23 M`: at most three digits that matter. */
export function short(number) {
  for (const [unit, size] of [['G', 1e9], ['M', 1e6], ['k', 1e3]]) {
    if (number >= size) return `${(number / size).toPrecision(3)} ${unit}`;
  }
  return String(Math.round(number));
}

/** Milliseconds in the two units that matter: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`. */
export function duration(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const two = (number) => String(number).padStart(2, '0');
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

/** @param {Score|null} score @returns {string} `+1.20`, `White wins in 9` */
export function scoreText(score) {
  if (!score) return '–';
  if (score.white_wins_in !== undefined) return `White wins in ${score.white_wins_in}`;
  if (score.black_wins_in !== undefined) return `Black wins in ${score.black_wins_in}`;
  const squares = (Math.abs(score.cm) / 100).toFixed(2);
  return score.cm > 0 ? `+${squares}` : score.cm < 0 ? `−${squares}` : squares;
}

/** A score that fits into a table's column: wins are `W 9` and `B 16`. */
export function scoreShort(score) {
  if (score?.white_wins_in !== undefined) return `W ${score.white_wins_in}`;
  if (score?.black_wins_in !== undefined) return `B ${score.black_wins_in}`;
  return scoreText(score);
}

/** The sign of a bound. */
export const boundSign = (bound) => ({ lower: '≥', upper: '≤' })[bound] ?? '=';

/** A score with its bound in a sentence. A bound on a win that is no win for the other side says so. */
export function boundedText(score, bound) {
  if (!score || bound === 'exact' || !bound) return scoreText(score);
  if (score.cm !== undefined) return `${boundSign(bound)} ${scoreText(score)}`;
  const white = score.white_wins_in !== undefined;
  const faster = white === (bound === 'lower');
  const plies = white ? score.white_wins_in : score.black_wins_in;
  const side = white ? 'White' : 'Black';
  return faster ? `${side} wins in ≤ ${plies}` : `at best ${side} wins in ${plies}`;
}

/** One number by which scores from White's view can be compared: wins are beyond all cm, and faster ones further. */
export function scoreValue(score) {
  if (score.white_wins_in !== undefined) return 1e6 - score.white_wins_in;
  if (score.black_wins_in !== undefined) return -1e6 + score.black_wins_in;
  return score.cm;
}

/** White's share of the evaluation bar, 0..1: two squares ahead fill about 82 %. */
export function whiteShare(score) {
  if (score.white_wins_in !== undefined) return 1;
  if (score.black_wins_in !== undefined) return 0;
  return 0.5 + 0.5 * Math.tanh(score.cm / 260);
}

/** `plus`, `minus` or `even`: whom a score favours, as a class. */
export function leaning(score) {
  const value = score ? scoreValue(score) : 0;
  return value > 0 ? 'plus' : value < 0 ? 'minus' : 'even';
}

/** `white` as `White`. */
export const sideName = (side) => (side === 'white' ? 'White' : 'Black');

/** `1 move`, `3 moves`. */
export const plural = (count, noun, many = `${noun}s`) => `${grouped(count)} ${count === 1 ? noun : many}`;
