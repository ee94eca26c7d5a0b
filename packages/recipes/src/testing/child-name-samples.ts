/** Names that clients make below the paths of recipes, and names that are nearly the same. */
import fc from "fast-check";
import type { ChildForm } from "../locks/child-names.ts";

const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
const uuid = fc.uuid();
const guid = fc.oneof(uuid, hex(32));
/** With at least one letter, so that capitals make another name. */
const capitals = hex(31).map((digits) => `${digits}f`.toUpperCase());
const decimal = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).filter((id) => id !== 0n);
const session = fc.oneof(
  decimal.map((id) => `${id}`),
  hex(16),
);
const word = fc.string({ unit: fc.constantFrom(..."ghijkq_+"), minLength: 1, maxLength: 12 });

type Names = fc.Arbitrary<string>;

function joined(...parts: readonly (Names | string)[]): Names {
  return fc
    .tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part)))
    .map((all) => all.join(""));
}

function protectedNames(...markers: readonly string[]): Names {
  return joined("_c_", guid, "-", fc.constantFrom(...markers));
}

function nearProtected(...markers: readonly string[]): readonly Names[] {
  return markers.flatMap((marker) => [
    fc.constant(marker),
    joined("_c_", hex(31), "-", marker),
    joined("_c_", hex(33), "-", marker),
    joined("_c_", capitals, "-", marker),
    joined("_C_", guid, "-", marker),
    joined("c_", guid, "-", marker),
    joined("_c_", guid, "-x", marker),
    joined("_c_", guid, marker),
    joined("_c_", guid, "-", marker, word),
    joined(uuid, "-", marker),
    joined(word, marker),
  ]);
}

interface Samples {
  /** Names that clients write, but for the number. */
  readonly real: Names;
  /** Names that no client writes. */
  readonly near: readonly Names[];
}

/** The parts before the number. */
const NUMBERED: Readonly<Partial<Record<ChildForm, Samples>>> = {
  lock: {
    real: fc.oneof(
      protectedNames("lock-", "__READ__", "__WRIT__"),
      joined(hex(32), fc.constantFrom("__lock__", "__rlock__", "-lock-", "__READ__", "__WRIT__")),
      joined("x-", session, "-"),
      joined("x-", session, "-", hex(32), "-"),
    ),
    near: [
      ...nearProtected("lock-", "__READ__", "__WRIT__"),
      fc.constantFrom("read-", "write-", "__lock__", "__rlock__", "-lock-", "x-", "x--", "latch-", "lease-"),
      protectedNames("latch-", "lease-", "id-", "number-", "LOCK-", "__WRITE__"),
      joined(fc.oneof(hex(31), hex(33), capitals, uuid), fc.constantFrom("__lock__", "__rlock__")),
      joined(hex(32), fc.constantFrom("-__lock__", "__LOCK__", "lock-", "-")),
      joined("x-", word, "-"),
      joined("x-", session, "-", fc.oneof(hex(31), hex(33), word), "-"),
      joined("X-", session, "-"),
    ],
  },
  latch: { real: protectedNames("latch-"), near: [...nearProtected("latch-"), protectedNames("lock-", "lease-")] },
  lease: { real: protectedNames("lease-"), near: [...nearProtected("lease-"), protectedNames("lock-", "latch-")] },
  item: {
    real: fc.oneof(
      fc.constant("queue-"),
      joined("queue-|", word, "|"),
      fc.integer().map((n) => `queue-${n < 0 ? 0 : 1}${(n >>> 0).toString(16).toUpperCase().padStart(8, "0")}`),
    ),
    near: [
      fc.constantFrom("queue", "Queue-", "queue_", "queues-", "qn-", "entry-100-", ""),
      joined("queue-|", word),
      joined("queue-", word, "|"),
      joined("queue-", word, "-"),
      // A whole queue of Curator's sharder.
      joined("queue-", uuid, "-"),
      joined("queue-2", hex(8)),
      joined("queue-", fc.constantFrom("1abcdefab", "10000000", "1000000000A")),
    ],
  },
  "simple-item": { real: fc.constant("qn-"), near: [fc.constantFrom("qn", "QN-", "qn_", "queue-", "", "n_")] },
  entry: {
    real: fc.integer({ min: 0, max: 999 }).map((priority) => `entry-${String(priority).padStart(3, "0")}-`),
    near: [fc.constantFrom("entry-", "entry-10-", "entry-1000-", "entry-abc-", "entry-100", "Entry-100-", "queue-")],
  },
};

/** Whole names. */
const PLAIN: Readonly<Partial<Record<ChildForm, Samples>>> = {
  "barrier-member": {
    real: guid,
    near: [hex(31), hex(33), hex(36), capitals, word, joined(uuid, "-"), joined("_c_", uuid)],
  },
  "party-member": {
    real: joined(hex(32), "-", fc.oneof(word, joined(word, "-", word))),
    near: [
      hex(32),
      joined(hex(32), "-"),
      joined(hex(32), "__party__"),
      joined(fc.oneof(hex(31), hex(33), capitals, uuid), "-", word),
      word,
    ],
  },
};

const number = fc.integer({ min: 0, max: 2 ** 31 - 1 }).map((n) => String(n).padStart(10, "0"));
const overflown = fc.integer({ min: -(2 ** 31), max: -1 }).map((n) => `-${String(-n).padStart(9, "0")}`);
/**
 * Behind a part without its hyphen, one of ten digits and a minus could be a positive number behind
 * the hyphen.
 */
const shortOverflown = fc.integer({ min: -999_999_999, max: -1 }).map((n) => `-${String(-n).padStart(9, "0")}`);
/** None is an int as `%010d` writes it. */
const nearNumber = fc.constantFrom(
  "",
  "123456789",
  "2147483648",
  "9999999999",
  "00000000001",
  "-00000001",
  "-000000000",
  "-0000000001",
  "-2147483649",
  "+000000001",
  "000000000x",
  " 000000001",
  "0000000001 ",
  "0x00000001",
  "1e00000005",
);

export const FORMS: readonly ChildForm[] = [...Object.keys(NUMBERED), ...Object.keys(PLAIN)] as ChildForm[];

/** Names of children that count. */
export function realNames(form: ChildForm): Names {
  const real = NUMBERED[form]?.real;
  return real === undefined ? samplesOf(form).real : joined(real, number);
}

/** Names that count, with numbers beyond the end; undefined for names without a number. */
export function overflownNames(form: ChildForm): Names | undefined {
  const real = NUMBERED[form]?.real;
  return real === undefined ? undefined : joined(real, overflown);
}

/** Names of children that do not count. */
export function nearMisses(form: ChildForm): Names {
  const { real, near } = samplesOf(form);
  if (NUMBERED[form] === undefined) return fc.oneof(...near);
  return fc.oneof(
    joined(fc.oneof(...near), number),
    joined(fc.oneof(...near), shortOverflown),
    joined(real, nearNumber),
  );
}

function samplesOf(form: ChildForm): Samples {
  const samples = NUMBERED[form] ?? PLAIN[form];
  if (samples === undefined) throw new Error(`there are no samples of ${form}`);
  return samples;
}
