/** Words that others have replaced: each concept has one name, that of docs/glossary.md. */

export interface OldWord {
  readonly word: string;
  /** Applied to each line of a source. */
  readonly pattern: RegExp;
  readonly instead: string;
  /** Beginnings of the paths it is refused in; all sources by default. */
  readonly folders?: readonly string[];
}

const CORES = ["packages/zab/", "packages/replica/", "packages/peer-protocol/", "packages/model/"];
const STORES = ["packages/txn-log/", "packages/server/"];

/** Former names of classes. */
const RENAMED: Readonly<Record<string, string>> = {
  TxnMaker: "TxnProposer",
  ToLeader: "RequestForwarder",
  LearnerRequests: "ForwardedRequests",
  OwnWrites: "InFlightWrites",
  CommitGate: "InFlightWrites",
  ShownNodes: "VirtualNodes",
  SnapshotDesk: "SnapshotEndpoint",
  LoneCalls: "ExclusiveCalls",
  ShownIdentities: "Credentials",
  LastingWatches: "PersistentWatchSupport",
  Patience: "Deadline",
  NamedSeat: "ExclusiveNode",
  RoomHandover: "AutomaticTransfer",
};

export const OLD_WORDS: readonly OldWord[] = [
  old("flip", /\b(?:with|to)?[fF]lip(?:s|ped|To)?\b(?! (?:a |one )?bit)/, "install history", CORES),
  old("flip", /\bwithFlip\b|\bflipTo\b|#flip\w*\b/, "install history", STORES),
  old("fold", /\b[fF]old(?:s|ed|ing|Plan|Report|Count|Ms\w*)?\b/, "checkpoint", STORES),
  old("voice", /\bvoice\b|\b\w*Voice\b/, "vote, mayVote"),
  old("hand-over", /\bhand-over\b|\bhandover\b|\bhandOver\b|\b\w*HandOver\b/, "leadership transfer", [
    ...CORES,
    "packages/server/",
  ]),
  old("go on", /\bgoOn\w*\b/, "continue, resume"),
  old("give back", /\bgiveBack\b/, "what is returned or freed"),
  old("let go", /\bletGo\b/, "disconnect, release"),
  old("told", /\b\w*Told\w*\b|\btold\b/, "reported, sent", CORES),
  ...Object.entries(RENAMED).map(([name, instead]) => old(name, new RegExp(`\\b${name}\\b`), instead)),
];

function old(word: string, pattern: RegExp, instead: string, folders?: readonly string[]): OldWord {
  return folders === undefined ? { word, pattern, instead } : { word, pattern, instead, folders };
}

/** The old words in a source, by lines. */
export function oldWordsIn(file: string, source: string): readonly string[] {
  const rules = OLD_WORDS.filter(({ folders }) => folders?.some((folder) => file.startsWith(folder)) ?? true);
  return source
    .split("\n")
    .flatMap((line, index) =>
      rules
        .filter(({ pattern }) => pattern.test(line))
        .map(({ word, instead }) => `${file}:${index + 1}: ${word}; write ${instead}: ${line.trim()}`),
    );
}
