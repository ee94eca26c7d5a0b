/** The four-letter words of ZooKeeper. Each has an answer in `four-letter-words.ts`. */
export const WORD_NAMES = [
  "ruok",
  "isro",
  "srvr",
  "stat",
  "mntr",
  "cons",
  "conf",
  "envi",
  "wchs",
  "wchc",
  "wchp",
  "dump",
  "dirs",
  "hash",
  "gtmk",
  "stmk",
  "crst",
  "srst",
] as const;

export type WordName = (typeof WORD_NAMES)[number];

/** The whitelist: `srvr` always, and the words that the operator lists; `*` lists all. */
export function parseWhitelist(text: string | undefined): ReadonlySet<string> {
  const listed = new Set(["srvr"]);
  for (const part of (text ?? "").split(",")) {
    const word = part.trim();
    if (word === "*") for (const known of WORD_NAMES) listed.add(known);
    else if (word !== "") listed.add(word);
  }
  return listed;
}

/** Parts of a whitelist that name no word, at most ten of them. */
export function unknownWords(text: string | undefined): readonly string[] {
  const known = new Set<string>(WORD_NAMES);
  const parts = (text ?? "").split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "" && part !== "*" && !known.has(part)).slice(0, 10);
}
