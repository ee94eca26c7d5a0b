/** A pattern for names, in the form of a shell. */
export interface NameGlob {
  test(name: string): boolean;
}

type Token = "any letters" | ((letter: string) => boolean);

/**
 * A shell's pattern: `*` any letters, `?` one letter, `[a-z]` one of a set, `[!a-z]` none of it,
 * and a backslash takes the next letter as it is. A slash is an ordinary letter.
 *
 * A test costs the product of both lengths at most: a failed attempt goes back to the last `*`
 * alone.
 */
export function globPattern(glob: string): NameGlob {
  const tokens = tokensOf(glob);
  return { test: (name) => matches(tokens, [...name]) };
}

function tokensOf(glob: string): readonly Token[] {
  const tokens: Token[] = [];
  const letters = [...glob];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? "";
    const setEnd = letter === "[" ? letters.indexOf("]", at + 2) : -1;
    if (letter === "*") tokens.push("any letters");
    else if (letter === "?") tokens.push(() => true);
    else if (setEnd !== -1) {
      tokens.push(setOf(letters.slice(at + 1, setEnd).join("")));
      at = setEnd;
    } else {
      if (letter === "\\" && at + 1 < letters.length) at++;
      const own = letters[at];
      tokens.push((other) => other === own);
    }
  }
  return tokens;
}

function setOf(set: string): (letter: string) => boolean {
  const isNegated = /^[!^]/.test(set);
  const letters = (isNegated ? set.slice(1) : set).replace(/[\\\]^[]/g, "\\$&");
  const pattern = new RegExp(`^[${isNegated ? "^" : ""}${letters}]$`, "u");
  return (letter) => pattern.test(letter);
}

function matches(tokens: readonly Token[], letters: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let afterStar = -1;
  let starAt = 0;
  while (at < letters.length) {
    const next = tokens[token];
    if (next === "any letters") {
      afterStar = ++token;
      starAt = at;
    } else if (next?.(letters[at] ?? "") === true) {
      token++;
      at++;
    } else if (afterStar === -1) {
      return false;
    } else {
      token = afterStar;
      at = ++starAt;
    }
  }
  return tokens.slice(token).every((rest) => rest === "any letters");
}
