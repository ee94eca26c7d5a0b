/** Bytes of the batches that this server has proposed in its role; -1 before the first. */
export class BatchSizes {
  last = -1;
  min = -1;
  max = -1;

  note(bytes: number): void {
    this.last = bytes;
    if (this.min < 0 || bytes < this.min) this.min = bytes;
    if (bytes > this.max) this.max = bytes;
  }
}
