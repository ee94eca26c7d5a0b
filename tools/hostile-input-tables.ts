/**
 * The tables of prices and of budgets in docs/hostile-input.md, made from the numbers that the code
 * uses: compares them with the page, or writes them with `--write`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BUDGETS, NO_PROXIES, PRICES } from "@zooid/model";

const PAGE = join(import.meta.dirname, "../docs/hostile-input.md");

interface Budget {
  readonly name: string;
  readonly countedIn: string;
  readonly share: string;
  /** The part that connections of trusted proxies have together. */
  readonly proxies: string;
  readonly givesWay: string;
}

const PROXIES = `${percent(NO_PROXIES.share)} of it`;
const ONE_ADDRESS = "as one address";
const { treeRoom, writesInFlight, reading, output, handshakes, longAnswers } = BUDGETS;
const { httpConnections, httpRequests, consoleRequests, consoleStreams, consoleSessions, authFailures, refusalLines } =
  BUDGETS;

const BUDGET_ROWS: Readonly<Record<keyof typeof BUDGETS, Budget>> = {
  watchMemory: {
    name: "memory of watches",
    countedIn: "bytes",
    share: "none: the excess over the whole goes",
    proxies: PROXIES,
    givesWay: "the address with most, by its largest connection",
  },
  treeRoom: {
    name: `the last part of the tree, ${percent(treeRoom.sharedPart)}`,
    countedIn: "bytes",
    share: `${percent(treeRoom.ofClient)} of the whole tree, of an address and of an identity that was proved`,
    proxies: `${PROXIES}; of a proved identity its own share instead`,
    givesWay: "its own writes",
  },
  writesInFlight: {
    name: "writes in flight",
    countedIn: `price until they are applied: ${writesInFlight.workUs / 1000} ms in all`,
    share: `${percent(writesInFlight.ofAddress)} of an address, ${percent(writesInFlight.ofConnection)} of a connection; one write below ${percent(writesInFlight.largeFrom)} of each address goes ahead`,
    proxies: PROXIES,
    givesWay: "its own further writes",
  },
  reading: {
    name: "turns of the event loop",
    countedIn: `time of reading: ${reading.turnMs} ms a turn, ${reading.turnMsLeast} at least after one that took longer`,
    share: `${reading.connectionMs} ms of a connection, ${reading.connectionMsSmall} of small requests; addresses take turns, and one that took longer lets the others have as much first, up to ${reading.owedMsMax} ms`,
    proxies: PROXIES,
    givesWay: "the others of its address",
  },
  output: {
    name: "sending",
    countedIn: `time: in a turn ${output.answersMs} ms for its answers, ${output.leftMs} for those that earlier turns left, ${output.eventsMs} for events of watches`,
    share: "addresses take turns with what was left, and with events",
    proxies: PROXIES,
    givesWay: "its other connections",
  },
  handshakes: {
    name: "TLS handshakes",
    countedIn: `time: ${percent(handshakes.ofTime)} of the loop in all, ${handshakes.savedMsMax} ms saved at most`,
    share: "addresses take turns, one handshake each",
    proxies: PROXIES,
    givesWay: "the others of its address",
  },
  longAnswers: {
    name: "answers that grow with the state",
    countedIn: `time: ${longAnswers.turnMs} ms of a turn in all`,
    share: "one answer of an address at a time",
    proxies: ONE_ADDRESS,
    givesWay: "its other answers",
  },
  httpRequests: {
    name: "HTTP requests of the admin port and the metrics port",
    countedIn: `time: ${percent(httpRequests.ofTime)} of the loop in all, ${httpRequests.savedMsMax} ms saved at most`,
    share: "addresses take turns; one request of a connection at a time, and 16 that wait",
    proxies: ONE_ADDRESS,
    givesWay: "its other requests; a connection with more is closed",
  },
  httpConnections: {
    name: "connections of the admin port",
    countedIn: `number: ${httpConnections.count}, and ${httpConnections.forProbes} for probes`,
    share: `${httpConnections.ofAddress} of an address`,
    proxies: ONE_ADDRESS,
    givesWay: "the connection that has waited longest, of the address with most",
  },
  consoleRequests: {
    name: "requests of the console",
    countedIn: `number: ${consoleRequests.count}`,
    share: `${consoleRequests.ofAddress} of an address`,
    proxies: ONE_ADDRESS,
    givesWay: "its own",
  },
  consoleStreams: {
    name: "event streams of the console",
    countedIn: `number: ${consoleStreams.count}`,
    share: `${consoleStreams.ofAddress} of an address`,
    proxies: ONE_ADDRESS,
    givesWay: "its own",
  },
  consoleSessions: {
    name: "ZooKeeper sessions of the console",
    countedIn: `number: ${consoleSessions.count}`,
    share: `${consoleSessions.ofAddress} of an address`,
    proxies: ONE_ADDRESS,
    givesWay: "the one that has been idle longest",
  },
  authFailures: {
    name: "failed authentications",
    countedIn: `number in ${authFailures.forgetMs / 60_000} minute`,
    share: `${authFailures.free} of an address are answered at once, then ${authFailures.delayMsFirst / 1000} s later, 2 s, …`,
    proxies: ONE_ADDRESS,
    givesWay: "its further failures; right passwords do not wait",
  },
  refusalLines: {
    name: "lines of the log about refused input",
    countedIn: `number in ${refusalLines.everyMs / 1000} s`,
    share: `${refusalLines.ofKind} of a kind, from all addresses`,
    proxies: "–",
    givesWay: "further ones are counted",
  },
};

type Price = keyof typeof PRICES;

/** Work with a price of its own, or with the number of its units for a microsecond. */
const PRICE_ROWS: Readonly<Record<Price, readonly [work: string, unit?: string]>> = {
  pathNamesPerUsLog2: ["looking up a path of 128 bytes or more, by its names", "names"],
  pathBytesPerUsLog2: ["and by its bytes", "bytes"],
  pathOfWriteTimes: ["the path of a write, in writes in flight and where it is applied"],
  ancestorBytesPerUsLog2: [
    "comparing a changed path with its ancestors that are watched, by the bytes of these",
    "bytes",
  ],
  servedWatchersPerUsLog2: ["watchers of those that had their event already", "watchers"],
  writeUs: ["a write in flight"],
  writeBytesPerUsLog2: ["and its bytes", "bytes"],
  multiBytesPerUsLog2: [
    "a multi of more than 64 KiB in flight; a shorter one costs as much as its parts, prepared and applied",
    "bytes",
  ],
  preparedPartUs: ["preparing a part of a multi, beside its path and each entry of its access list"],
  preparedPartBytesPerUsLog2: ["and its data", "bytes"],
  appliedOpUs: ["applying an operation, and each entry of its access list but the first"],
  appliedBytesPerUsLog2: ["and the bytes of its transaction", "bytes"],
  firedWatchUs: ["firing a watch"],
  listedNamesPerUsLog2: ["listing children", "names"],
  listedEphemeralsPerUsLog2: ["listing ephemerals, and the names above them", "names"],
  aclEntriesPerUsLog2: ["sending an access list", "entries"],
  childrenOfPagePerUsLog2: ["a page of children", "children"],
  setWatchesPathsReadPerUsLog2: ["reading the paths of setWatches", "paths"],
  restoredWatchUs: ["restoring a watch, beside its path"],
};

function priceText(price: Price, unit: string | undefined): string {
  const value = PRICES[price];
  const each = unit === undefined ? `${value}` : `1 for ${amount(2 ** value)} ${unit}`;
  if (price === "multiBytesPerUsLog2") return `${PRICES.writeUs}, and ${each}`;
  return price === "pathOfWriteTimes" ? `${each} times that` : each;
}

/** A fraction as a page says it. */
function percent(fraction: number): string {
  const words = new Map([
    [0.5, "half"],
    [0.25, "a quarter"],
    [0.125, "an eighth"],
    [0.0625, "a sixteenth"],
  ]);
  return words.get(fraction) ?? `${fraction * 100} %`;
}

function amount(value: number): string {
  return value % 1024 === 0 ? `${value / 1024} Ki` : `${value}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Each table by the name that marks its place in the page. */
export const TABLES: ReadonlyMap<string, string> = new Map([
  [
    "budgets",
    table(
      ["budget", "counted in", "share", "of trusted proxies together", "gives way, or waits"],
      Object.values(BUDGET_ROWS).map((row) => [row.name, row.countedIn, row.share, row.proxies, row.givesWay]),
    ),
  ],
  [
    "prices",
    table(
      ["work", "µs"],
      Object.entries(PRICE_ROWS).map(([price, [work, unit]]) => [work, priceText(price as Price, unit)]),
    ),
  ],
]);

const begin = (name: string): string => `<!-- ${name}: made by tools/hostile-input-tables.ts -->\n\n`;
const END = "\n\n<!-- end -->";

/** The page with its tables as they have to be. */
export function withTables(page: string): string {
  let text = page;
  for (const [name, made] of TABLES) {
    const start = text.indexOf(begin(name));
    if (start === -1) throw new Error(`${PAGE} has no place for the table ${name}: ${begin(name)}`);
    const from = start + begin(name).length;
    const end = text.indexOf(END, from);
    if (end === -1) throw new Error(`${PAGE} does not say where the table ${name} ends:${END}`);
    text = text.slice(0, from) + made + text.slice(end);
  }
  return text;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const page = readFileSync(PAGE, "utf8");
  const expected = withTables(page);
  if (process.argv.includes("--write")) writeFileSync(PAGE, expected);
  else if (page !== expected) {
    process.stderr.write(
      "the tables of docs/hostile-input.md differ from the code: node tools/hostile-input-tables.ts --write\n",
    );
    process.exitCode = 1;
  } else process.stdout.write(`${TABLES.size} tables of docs/hostile-input.md are those of the code\n`);
}
