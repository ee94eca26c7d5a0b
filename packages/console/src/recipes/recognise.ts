/**
 * Recipes by the names and owners of a node's children: Curator's, kazoo's, those of ZooKeeper's
 * own Java recipes, and ours, which have the same names.
 */
import type { RecipeJson } from "../api/recipe-shapes.ts";

/** A child of the node that is looked at. */
export interface Candidate {
  readonly name: string;
  readonly isEphemeral: boolean;
  readonly hasChildren: boolean;
  /** The data as text, as far as it is short and printable. */
  readonly text: string | null;
}

export interface Recognised {
  readonly kind: RecipeJson["kind"];
  readonly library: string;
  /** In the order of the recipe: the holders first. */
  readonly contenders: readonly RecognisedContender[];
}

export interface RecognisedContender {
  readonly name: string;
  readonly sequence: number | null;
  readonly state: "holds" | "waits";
  readonly mode: "exclusive" | "shared";
}

interface Naming {
  readonly kind: "lock" | "read-write lock" | "semaphore" | "election" | "queue";
  readonly library: string;
  readonly pattern: RegExp;
  readonly mode: "exclusive" | "shared";
}

const SEQUENCE = /(\d{10})$/;
/**
 * Patterns of contenders' names; the form of a library's own number is enough here:
 * `[0-9a-f-]{32,36}`.
 */
const NAMINGS: readonly Naming[] = [
  naming("read-write lock", "Curator", /^_c_[0-9a-f-]{32,36}-__READ__\d{10}$/, "shared"),
  naming("read-write lock", "Curator", /^_c_[0-9a-f-]{32,36}-__WRIT__\d{10}$/),
  naming("read-write lock", "kazoo", /^[0-9a-f-]{32,36}__rlock__\d{10}$/, "shared"),
  naming("lock", "kazoo", /^[0-9a-f-]{32,36}__lock__\d{10}$/),
  naming("lock", "Curator", /^(_c_[0-9a-f-]{32,36}-)?lock-\d{10}$/),
  naming("lock", "ZooKeeper recipes", /^x-(0x)?-?[0-9a-f]+-.*\d{10}$/),
  naming("semaphore", "Curator", /^_c_[0-9a-f-]{32,36}-lease-\d{10}$/, "shared"),
  naming("election", "Curator", /^_c_[0-9a-f-]{32,36}-latch-\d{10}$/),
  naming("election", "ZooKeeper recipes", /^n_-?\d{10}$/),
  naming("queue", "kazoo", /^entry-\d+-\d{10}$/),
  naming("queue", "Curator", /^queue-([0-9A-F]{8}|\d{10})?\d{10}$|^queue-\|.*\d{10}$/),
  naming("queue", "ZooKeeper recipes", /^qn-\d{10}$/),
];

/** Undefined where the children are no recipe that is known. */
export function recognise(children: readonly Candidate[]): Recognised | undefined {
  if (children.length === 0) return undefined;
  const named = children.flatMap((child) => {
    const found = NAMINGS.find(({ pattern }) => pattern.test(child.name));
    return found === undefined ? [] : [{ child, naming: found }];
  });
  // Other nodes may stand beside a queue, such as its locks.
  if (named.length * 2 > children.length) return ordered(named);
  return membersOf(children);
}

interface Named {
  readonly child: Candidate;
  readonly naming: Naming;
}

function ordered(named: readonly Named[]): Recognised {
  const kinds = new Set(named.map(({ naming: { kind } }) => kind));
  const kind = kinds.has("read-write lock") ? "read-write lock" : (named[0]?.naming.kind ?? "lock");
  const sorted = named
    .map(({ child: { name }, naming: { mode } }) => ({ name, mode, sequence: sequenceOf(name) }))
    .toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
  const firstExclusive = sorted.findIndex(({ mode }) => mode === "exclusive");
  const contenders = sorted.map((contender, i) => ({ ...contender, state: stateOf(kind, i, firstExclusive) }));
  return { kind, library: named[0]?.naming.library ?? "", contenders };
}

function stateOf(kind: Naming["kind"], place: number, firstExclusive: number): "holds" | "waits" {
  switch (kind) {
    case "queue":
      return "waits";
    case "semaphore":
      // A lease's node waits only while its client holds the semaphore's lock.
      return "holds";
    case "read-write lock":
      // Readers hold together until the first writer.
      return place === 0 || firstExclusive === -1 || place < firstExclusive ? "holds" : "waits";
    default:
      return place === 0 ? "holds" : "waits";
  }
}

/**
 * Ephemeral nodes without sequence numbers are members of something; services if their data says
 * so.
 */
function membersOf(children: readonly Candidate[]): Recognised | undefined {
  const isGroup = children.every(({ isEphemeral, hasChildren }) => isEphemeral && !hasChildren);
  if (!isGroup) return undefined;
  const areServices = children.every(({ text }) => text !== null && isInstance(text));
  return {
    kind: areServices ? "services" : "group",
    library: areServices ? "Curator" : "",
    contenders: children.map(({ name }) => ({ name, sequence: null, state: "holds", mode: "shared" })),
  };
}

function isInstance(text: string): boolean {
  try {
    const found = JSON.parse(text) as unknown;
    return typeof found === "object" && found !== null && "name" in found && "id" in found && "address" in found;
  } catch {
    return false;
  }
}

function sequenceOf(name: string): number | null {
  const digits = SEQUENCE.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

function naming(kind: Naming["kind"], library: string, pattern: RegExp, mode: Naming["mode"] = "exclusive"): Naming {
  return { kind, library, mode, pattern };
}
