/**
 * A shell's pattern: `*` any letters, `?` one letter, `[a-z]` one of a set, `[!a-z]` none of it,
 * and a backslash takes the next letter as it is. A slash is an ordinary letter.
 */
export function globPattern(glob: string): RegExp {
  let source = "";
  for (let at = 0; at < glob.length; at++) {
    const letter = glob[at] ?? "";
    if (letter === "*") source += ".*";
    else if (letter === "?") source += ".";
    else if (letter === "[" && glob.indexOf("]", at + 2) !== -1) {
      const end = glob.indexOf("]", at + 2);
      const set = glob.slice(at + 1, end);
      source += `[${/^[!^]/.test(set) ? "^" : ""}${set.replace(/^[!^]/, "").replace(/[\\\]^[]/g, "\\$&")}]`;
      at = end;
    } else {
      if (letter === "\\" && at + 1 < glob.length) at++;
      source += (glob[at] ?? "").replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    }
  }
  return new RegExp(`^${source}$`, "su");
}
