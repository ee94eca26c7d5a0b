/**
 * The blocks of a text in PEM with a label such as `CERTIFICATE`, from their first line to their
 * last one. The time grows with the text, also where blocks begin and none ends.
 */
export function pemBlocks(text: string, label: string): readonly string[] {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const blocks: string[] = [];
  for (let from = text.indexOf(begin); from !== -1; ) {
    const last = text.indexOf(end, from + begin.length + 1);
    if (last === -1) break;
    blocks.push(text.slice(from, last + end.length));
    from = text.indexOf(begin, last + end.length);
  }
  return blocks;
}
