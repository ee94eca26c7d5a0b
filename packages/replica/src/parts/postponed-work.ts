/**
 * A mark that a part has work for a later turn, set by each part that postpones some. `DueWork`
 * clears it when no part has any: a turn without the mark asks none.
 */
export class PostponedWork {
  isMarked = false;

  mark(): void {
    this.isMarked = true;
  }
}
