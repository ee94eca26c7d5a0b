/**
 * Names and order of items in Curator's queues. A bare `queue-<number>`, as Curator requeues, is
 * valid in each.
 */
import { checkArgument, type Rule, rules, wholeNumberRule } from "@zooid/model";
import { isContender } from "../locks/child-names.ts";
import { isNumbered } from "../locks/sequence.ts";

const PREFIX = "queue-";
const BETWEEN = "|";

/** The order of one kind of queue. */
export interface QueueNames {
  /** Whether a later item may have to be taken earlier. */
  readonly isReordered: boolean;
  /** Compares items. */
  key(name: string): string;
  /**
   * The time from which an item is available, in milliseconds since 1970; undefined for at once.
   */
  dueMs(name: string): number | undefined;
}

/** Items only, in the order in which they are taken. @throws SEQUENCE_OVERFLOW */
export function inQueueOrder(names: readonly string[], { key }: QueueNames): readonly string[] {
  return names
    .filter((name) => isNumbered(name, "item"))
    .map((name) => ({ name, key: key(name) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ name }) => name);
}

/** Whether a child of a queue's path is an item. */
export function isItem(name: string): boolean {
  return isContender(name, "item");
}

/**
 * The prefix of an item's name before the number, with which it keeps its place when it is
 * requeued.
 */
export function withoutNumber(name: string): string {
  return name.slice(0, -10);
}

export const PLAIN_NAMES: QueueNames = { isReordered: false, key: (name) => name, dueMs: () => undefined };

export const ID_NAMES: QueueNames = { ...PLAIN_NAMES, key: (name) => PREFIX + split(name).rest };

export function idOf(name: string): string | undefined {
  return split(name).between;
}

export function nameWithId(id: string): string {
  checkId(id);
  return `${PREFIX}${BETWEEN}${id}${BETWEEN}`;
}

const PRIORITY: Rule = wholeNumberRule(-(2 ** 31));
const DUE_MS: Rule = wholeNumberRule(0, Number.MAX_SAFE_INTEGER);
const ID: Rule = {
  expected: "a text that is not empty, without control characters, and without / and |, which Curator stores as _",
  accepts: (value) => rules.name.accepts(value) && !String(value).includes("|"),
};

/** @throws ArgumentError for an id that would be stored as another one */
export function checkId(id: string): void {
  checkArgument("queue", "id", id, ID);
}

export const PLAIN_PREFIX: string = PREFIX;

export const PRIORITY_NAMES: QueueNames = { ...PLAIN_NAMES, isReordered: true };

/** @param priority a 32-bit number, the lowest first */
export function nameWithPriority(priority: number): string {
  checkArgument("queue", "priority", priority, PRIORITY);
  return `${PREFIX}${priority >= 0 ? 1 : 0}${hex(priority >>> 0)}`;
}

export const DELAY_NAMES: QueueNames = {
  isReordered: true,
  key: (name) => `${String(dueMsOf(name)).padStart(16, "0")}${name.slice(-10)}`,
  dueMs: dueMsOf,
};

export function nameWithDueMs(dueMs: number): string {
  checkArgument("queue", "dueMs, in milliseconds since 1970,", dueMs, DUE_MS);
  return `${PREFIX}${BETWEEN}${hex(dueMs)}${BETWEEN}`;
}

/** An item without a time is available. */
function dueMsOf(name: string): number {
  const dueMs = Number.parseInt(split(name).between ?? "0", 16);
  return Number.isSafeInteger(dueMs) ? dueMs : 0;
}

function split(name: string): { readonly between: string | undefined; readonly rest: string } {
  const [, between, rest] = name.split(BETWEEN, 3);
  return between === undefined || rest === undefined
    ? { between: undefined, rest: name.slice(PREFIX.length) }
    : { between, rest };
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, "0");
}
