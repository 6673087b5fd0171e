// Which elements of a list can stay where they are when it is sorted anew.

/**
 * The longest run of rows that keep their order among themselves: all others have to move, and no fewer would do.
 * @param {number[]} places where each row of the new order was in the old one
 * @returns {Set<number>} indices in the new order
 */
export function stayers(places) {
  /** Index of the row that ends the best run of each length: the one with the lowest old place. */
  const ends = [];
  const before = [];
  places.forEach((place, index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (places[ends[mid]] < place) low = mid + 1;
      else high = mid;
    }
    before[index] = low > 0 ? ends[low - 1] : -1;
    ends[low] = index;
  });
  const stay = new Set();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index]) stay.add(index);
  return stay;
}
