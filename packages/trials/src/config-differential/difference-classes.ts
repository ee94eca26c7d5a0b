import type { CaseFacts } from "./case-facts.ts";
import { FLAG_KEYS, KEY_SAMPLES, NUMBER_KEYS } from "./key-samples.ts";
import { type Difference, START } from "./outcome.ts";
import { MISSPELT } from "./random-configuration.ts";

/** An intended difference, and the row of docs/differences.md that says it. */
export interface DifferenceClass {
  /** The first cell of the row. */
  readonly row: string;
  /**
   * @param subject the key that a refusal of Zooid names first; empty where it names none, and for
   *   every other difference
   */
  explains(difference: Difference, facts: CaseFacts, subject: string): boolean;
}

/** A refusal of Zooid where Apache's server starts, by the key that it names. */
function refusal(row: string, isSo: (key: string, value: string, facts: CaseFacts) => boolean): DifferenceClass {
  return {
    row,
    explains: ({ value, apache }, facts, subject) =>
      value === START && apache === "starts" && isSo(subject, givenValue(facts, subject), facts),
  };
}

/** A start of Zooid where Apache's parser throws this. */
function start(row: string, thrown: RegExp, isSo: (facts: CaseFacts) => boolean = () => true): DifferenceClass {
  return {
    row,
    explains: ({ value, apache, zooid }, facts) =>
      value === START && zooid === "starts" && thrown.test(apache) && isSo(facts),
  };
}

function values(row: string, names: readonly string[], isSo: (facts: CaseFacts) => boolean): DifferenceClass {
  return { row, explains: ({ value }, facts) => names.includes(value) && isSo(facts) };
}

function givenValue({ values, flags }: CaseFacts, key: string): string {
  return values.get(key) ?? flags.get(key) ?? "";
}

const JAVA_NUMBER = /^[+-]?\d{1,10}$/;
const MEMBER_KEY = /^server\.\d+$/;
const PORT_KEY = /^(?:clientPort|secureClientPort|admin\.serverPort|metricsProvider\.httpPort|observerMasterPort)$/;
const EVERY_KEY = new Set(KEY_SAMPLES.map(({ key }) => key));
const WRONG_KEYS = new Set(MISSPELT.map(([key]) => key));
/** Named by Java's own properties, which Apache's server reads from the command line alone. */
const JAVA_ONLY = [
  "jute.maxbuffer",
  "readonlymode.enabled",
  "znode.container.checkIntervalMs",
  "znode.container.maxPerMinute",
];
/** Read with a class, an algorithm or a certificate behind it. */
const CLASSES = /^(?:authProvider\.|metricsProvider\.className|DigestAuthenticationProvider\.digestAlg$)/;
const UNSUPPORTED =
  /^(?:oraclePath|quorum\.auth\.|metricsProvider\.httpsPort|snapshot\.compression\.|ssl\.|db\.autocreate)/;

export const DIFFERENCE_CLASSES: readonly DifferenceClass[] = [
  refusal("a key twice in zoo.cfg, with two values", (key, _, { settings }) => {
    const given = settings.filter((setting) => sameKey(setting.key) === sameKey(key)).map(({ value }) => value);
    return new Set(given).size > 1;
  }),
  refusal(
    "`server.3O`, `Server.3`, `weight.x`, `sessionRequireClientSASLauth`: misspelt keys that decide about votes, access, addresses or durability",
    (key) => WRONG_KEYS.has(key),
  ),
  refusal("`zookeeper.NAME` in zoo.cfg, where NAME is a setting", (key) => key.startsWith("zookeeper.")),
  values(
    "`zookeeper.NAME` in zoo.cfg, where NAME is a setting",
    ["maxCnxns", "extendedTypesEnabled", "tickTime", "minSessionTimeout", "maxSessionTimeout"],
    ({ values }) => [...values.keys()].some((key) => key.startsWith("zookeeper.")),
  ),
  refusal(
    "numbers that are none, or out of their range",
    (key, value) => NUMBER_KEYS.has(key) && (!JAVA_NUMBER.test(value) || !isInRange(key, Number(value))),
  ),
  refusal(
    "switches with another value than `true` and `false`",
    (key, value) => FLAG_KEYS.has(key) && !/^(?:true|false)$/i.test(value),
  ),
  refusal(
    "addresses that are none",
    (key, value) => /(?:Address|Host)$/.test(key) && /[^\w.:[\]-]|^[\d.]+$|:|\[/.test(value),
  ),
  refusal("two ports of one server with one number", (key, _, { values }) => {
    const ports = [...values].filter(([name]) => PORT_KEY.test(name)).map(([, value]) => Number(value));
    return PORT_KEY.test(key) && new Set(ports).size < ports.length;
  }),
  refusal(
    "paths that a shell, a template or Windows would have changed",
    (key, value) => /^data(?:Log)?Dir$/.test(key) && /^["~]|\$\{/.test(value),
  ),
  refusal("empty values of files, addresses and names", (key, value) => EVERY_KEY.has(key) && value === ""),
  refusal(
    "`leaderServes` and `peerType` with another word",
    (key, value) => key === "leaderServes" && !/^(?:yes|no)$/.test(value),
  ),
  refusal("settings that only Java's server can honour", (key) => UNSUPPORTED.test(key)),
  refusal("classes, hashes and schemes that are not known", (key) => CLASSES.test(key)),
  refusal(
    "TLS without keys and certificates",
    (key, _, { values }) =>
      /^(?:TLS|clients|admin\.needClientAuth)/.test(key) &&
      [
        "secureClientPort",
        "sslQuorum",
        "portUnification",
        "admin.forceHttps",
        "admin.needClientAuth",
        "client.portUnification",
        "admin.portUnification",
      ].some((name) => values.has(name)),
  ),
  refusal(
    "lines `server.N` without a host, or with port 0",
    (key, value) => MEMBER_KEY.test(key) && /^:|:0:|:0$/.test(value.trim()),
  ),
  refusal("`peerType=observer` without other servers", (key, value) => key === "peerType" && value === "observer"),
  refusal("between servers", (key, _, { values }) => key === "peers" && !values.has("zooid.allowUnauthenticatedPeers")),
  start("several addresses of a server", /Multiple address feature is disabled/),
  start("`initLimit` and `syncLimit` of an ensemble", /(?:initLimit|syncLimit) is not set/),
  start("a dynamic file with a line `version`", /dynamic file shouldn't have version inside/),
  start("blanks within a line `server.N`", /Address unresolved: .*\s|For input string: "\d+\s/),
  start(
    "values of keys that have no effect",
    /NumberFormatException|Invalid option .* for (?:multiAddress|syncEnabled)/,
    ({ settings }) =>
      settings.some(
        ({ key, value }) =>
          NO_EFFECT.test(key) && !(/nabled$/.test(key) ? /^(?:true|false)$/i : /^[+-]?\d{1,9}$/).test(value),
      ),
  ),
  start("`electionAlg=0`", /Invalid electionAlg value/, ({ values }) => Number(values.get("electionAlg")) === 0),
  start(
    "blanks or nothing in `myid`",
    /serverid .* is not a number/,
    ({ myid = "" }) => !/^\d+$/.test(myid.split(/\r?\n/)[0] ?? ""),
  ),
  start("`clientPortAddress` without `clientPort`", /clientPortAddress is set but clientPort is not set/),
  start("`clientPortAddress` beside another address in the own line", /client address for this server/),
  values("`clientPort` missing", ["clientAddress"], ({ values }) => !(Number(values.get("clientPort") ?? "0") > 0)),
  values(
    "`jute.maxbuffer`, `readonlymode.enabled`, `znode.container.*` and `fsync.warningthresholdms` in zoo.cfg",
    [...JAVA_ONLY, "4lw.commands.whitelist"],
    ({ values }) => JAVA_ONLY.some((key) => values.has(key)),
  ),
  values(
    "`globalOutstandingLimit` that is not set",
    ["globalOutstandingLimit"],
    ({ values, flags }) => !values.has("globalOutstandingLimit") && !flags.has("zookeeper.globalOutstandingLimit"),
  ),
];

/** Keys whose values Zooid does not read. */
const NO_EFFECT =
  /^(?:initLimit|syncLimit|autopurge\.|connectToLearnerMasterLimit|multiAddress\.|syncEnabled|quorum\.cnxn\.|jvm\.pause|jvmPause)/;

function isInRange(key: string, value: number): boolean {
  const [, min = 1, max = 2 ** 31 - 1] = RANGES.find(([pattern]) => pattern.test(key)) ?? [];
  return value >= min && value <= max;
}

/** Where others than 1 to 2,147,483,647. */
const RANGES: readonly (readonly [key: RegExp, min: number, max: number])[] = [
  [/^jute\.maxbuffer$/, 45, 2 ** 24],
  [/^connection_throttle_(?:drop_increase|drop_decrease|decrease_ratio)$/, 0, 1],
  [/[pP]ort$/, 0, 65_535],
];

function sameKey(key: string): string {
  return MEMBER_KEY.test(key) ? key.replace(/\.0+(?=\d)/, ".") : key;
}

/** An explained difference, or one that is not intended (`class` undefined). */
export interface Judged {
  readonly difference: Difference;
  readonly class: DifferenceClass | undefined;
}

/** A refusal of Zooid lists all that is wrong: each of its lines is judged alone. */
export function judge(difference: Difference, facts: CaseFacts): readonly Judged[] {
  return subjectsOf(difference).map(({ subject, text }) => ({
    difference: text === undefined ? difference : { ...difference, zooid: `refuses: ${text}` },
    class: DIFFERENCE_CLASSES.find((each) => each.explains(difference, facts, subject)),
  }));
}

const REFUSES = "refuses: ";

function subjectsOf({ value, zooid }: Difference): readonly { readonly subject: string; readonly text?: string }[] {
  if (value !== START || !zooid.startsWith(REFUSES)) return [{ subject: "" }];
  return zooid
    .slice(REFUSES.length)
    .split("\n")
    .map((line) => line.replace(/^\S+zoo\.cfg: /, ""))
    .map((text) => ({ subject: /^[^\s:=]+/.exec(text)?.[0] ?? "", text }));
}
