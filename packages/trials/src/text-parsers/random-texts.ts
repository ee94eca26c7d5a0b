import type { Random } from "@zooid/conformance/internal/random";

const ODD = [
  "\0",
  "\x07",
  "\x7f",
  "\r",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "\ud800",
  "\u{1f600}",
  "\u202e",
  "é",
  "ß",
  "%",
  "'",
];
const PIECES_MAX = 40;

/** A text of pieces of a grammar, of odd characters among them, or of odd characters alone. */
export function randomText(random: Random, words: readonly string[]): string {
  const odds = random.pick([0, 0.1, 1]);
  let text = "";
  for (let left = random.between(0, PIECES_MAX); left > 0; left--) {
    const piece = random.chance(odds) ? oddPiece(random) : random.pick(words);
    text += random.chance(0.05) ? piece.repeat(random.between(2, 50)) : piece;
  }
  return text;
}

function oddPiece(random: Random): string {
  return random.chance(0.5) ? random.pick(ODD) : String.fromCharCode(random.between(0, 0xffff));
}

/**
 * The defect of a parser on a text: it fails as a defect does, instead of naming the problem of the
 * text.
 */
export function defectOf(parse: (text: string) => unknown, text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    const isAnswer = error instanceof Error && !(error instanceof TypeError) && error.name !== "AssertionError";
    return isAnswer && !error.message.startsWith("Maximum call stack") ? undefined : String(error);
  }
}
