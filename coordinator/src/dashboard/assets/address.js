// The address bar carries the game, the place in it, the job and the flip, so that a link shows what its sender saw.
// All of it stands behind `#`: it never reaches the server.

/**
 * @typedef {object} Address
 * @property {string|null} start text of the position in which the moves begin
 * @property {string} moves separated by blanks
 * @property {number|undefined} at how many of them are played
 * @property {number|null} job
 * @property {boolean} flipped
 */

/** @returns {Address} */
export function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (/^\d{1,15}$/.test(fields.get(name) ?? '') ? Number(fields.get(name)) : null);
  return {
    start: fields.get('start'),
    moves: (fields.get('moves') ?? '').replaceAll('.', ' '),
    at: number('at') ?? undefined,
    job: number('job'),
    flipped: fields.get('flip') === '1',
  };
}

/**
 * Writes the address.
 * @param {import('./game.js').Game} game
 * @param {number|null} job
 * @param {boolean} flipped
 * @param {boolean} push whether the back button shall lead to what stood there before
 */
export function writeAddress(game, job, flipped, push) {
  const fields = new URLSearchParams();
  if (game.start) fields.set('start', game.start);
  if (game.moves.length > 0) fields.set('moves', game.moves.join('.'));
  if (game.at !== game.moves.length) fields.set('at', game.at);
  if (job !== null) fields.set('job', job);
  if (flipped) fields.set('flip', '1');
  const text = fields.toString();
  const address = text ? `#${text}` : location.pathname;
  if (text === location.hash.slice(1)) return;
  if (push) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
}
