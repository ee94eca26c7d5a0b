/**
 * Which children of a recipe's path count: those whose names a client makes there, by prefix,
 * length and number. All others neither wait nor are waited for, in any recipe.
 */

/**
 * The kinds of children of a directory:
 *
 * - `lock`: contenders for a lock, as of a mutex, a selector, a reader or writer, and the turns of
 *   a semaphore
 * - `latch`, `lease`: candidates of a latch, leases of a semaphore
 * - `candidate`: of a latch, or of a selector, whose nodes are those of a lock
 */
export type ContenderForm = "lock" | "latch" | "lease" | "candidate";

/**
 * - `item`: of the queues that share Curator's format
 * - `simple-item`: of a simple queue
 * - `entry`: of kazoo's locking queue
 * - `barrier-member`, `party-member`: of a double barrier, of a partitioned set
 */
export type ChildForm =
  | Exclude<ContenderForm, "candidate">
  | "item"
  | "simple-item"
  | "entry"
  | "barrier-member"
  | "party-member";

interface NameForm {
  readonly form: ChildForm;
  readonly clients: string;
  /** The part before the number, or the whole name. */
  readonly before: RegExp;
  readonly isNumbered: boolean;
}

/**
 * Every name that a client makes. Protected names have a UUID, Go's without hyphens; sessions are
 * decimal in Java, and hexadecimal in C. All clients that share a directory are waited for, readers
 * and writers too.
 */
export const NAME_FORMS: readonly NameForm[] = [
  {
    form: "lock",
    clients: "Curator, Go, Zooid",
    before: /^_c_(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})-(?:lock-|__READ__|__WRIT__)$/,
    isNumbered: true,
  },
  { form: "lock", clients: "kazoo, Zooid", before: /^[0-9a-f]{32}(?:__lock__|__rlock__)$/, isNumbered: true },
  {
    form: "lock",
    clients: "kazoo with the names of Curator",
    before: /^[0-9a-f]{32}(?:-lock-|__READ__|__WRIT__)$/,
    isNumbered: true,
  },
  {
    form: "lock",
    clients: "the recipes of ZooKeeper, Zooid with a UUID behind the session",
    before: /^x-(?:-?[1-9][0-9]{0,18}|[0-9a-f]{16})-(?:[0-9a-f]{32}-)?$/,
    isNumbered: true,
  },
  {
    form: "latch",
    clients: "Curator, Zooid",
    before: /^_c_(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})-latch-$/,
    isNumbered: true,
  },
  {
    form: "lease",
    clients: "Curator, Zooid",
    before: /^_c_(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})-lease-$/,
    isNumbered: true,
  },
  { form: "item", clients: "Curator, Zooid: every queue", before: /^queue-$/, isNumbered: true },
  { form: "item", clients: "Curator, Zooid: by id or time", before: /^queue-\|[^|]*\|$/, isNumbered: true },
  { form: "item", clients: "Curator, Zooid: by priority", before: /^queue-[01][0-9A-F]{8}$/, isNumbered: true },
  { form: "simple-item", clients: "Curator, the recipes of ZooKeeper, Zooid", before: /^qn-$/, isNumbered: true },
  { form: "entry", clients: "kazoo, Zooid", before: /^entry-[0-9]{3}-$/, isNumbered: true },
  {
    form: "barrier-member",
    clients: "Curator, kazoo, Zooid",
    before: /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/,
    isNumbered: false,
  },
  { form: "party-member", clients: "kazoo, Zooid", before: /^[0-9a-f]{32}-.+$/s, isNumbered: false },
];

// Without `Map.groupBy`: a Node.js that is too old loads this module, and gets a sentence from the
// client.
const BY_FORM: ReadonlyMap<ChildForm, readonly NameForm[]> = new Map(
  NAME_FORMS.map(({ form }) => [form, NAME_FORMS.filter((other) => other.form === form)]),
);

/** Whether a child of this name counts. */
export function isContender(name: string, form: ContenderForm | ChildForm): boolean {
  const forms = BY_FORM.get(form as ChildForm) ?? [];
  return forms.some(({ isNumbered, before }) => !isNumbered && before.test(name)) || numberOf(name, form) !== undefined;
}

/**
 * The number of a child that counts, as text; undefined for others. A negative one has overflown.
 */
export function numberOf(name: string, form: ContenderForm | ChildForm): string | undefined {
  if (form === "candidate") return numberOf(name, "latch") ?? numberOf(name, "lock");
  const forms = BY_FORM.get(form) ?? [];
  for (let length = DIGITS; length <= LENGTH_MAX; length++) {
    const number = name.slice(-length);
    const part = name.slice(0, -length);
    if (isNumber(number) && forms.some(({ isNumbered, before }) => isNumbered && before.test(part))) return number;
  }
  return undefined;
}

const DIGITS = 10;
/** A number of ten digits behind a minus. */
const LENGTH_MAX = 11;

/** Whether this is an int as servers write it, `%010d`: ten digits, or a minus and nine, or ten. */
function isNumber(text: string): boolean {
  const value = Number(text);
  if (!Number.isInteger(value) || value < -(2 ** 31) || value >= 2 ** 31) return false;
  return text === (value < 0 ? `-${String(-value).padStart(DIGITS - 1, "0")}` : String(value).padStart(DIGITS, "0"));
}
