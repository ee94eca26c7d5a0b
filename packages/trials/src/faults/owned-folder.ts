/**
 * The writes of one client to a folder without other writers, and the content that must result.
 *
 * A session's requests are carried out in order. So after any crash the folder must look exactly as
 * after some prefix of what was asked: at least everything that was answered, at most everything
 * that was sent. That single rule covers lost writes, resurrected deletes, half transactions,
 * values that swap and ephemerals that outlive their session.
 */
import type { Credentials } from "./raw-session.ts";

export type Change =
  | { readonly kind: "open" }
  | { readonly kind: "close" }
  | { readonly kind: "folder" }
  | { readonly kind: "create"; readonly name: string; readonly value: string; readonly ephemeral: boolean }
  | { readonly kind: "append"; readonly prefix: string; readonly value: string; readonly ephemeral: boolean }
  | { readonly kind: "set"; readonly name: string; readonly value: string }
  | { readonly kind: "delete"; readonly name: string }
  | { readonly kind: "multi"; readonly parts: readonly Change[] };

/** One request: when it was sent and, once answered, when and with which zxid. */
export interface Step {
  readonly change: Change;
  readonly sentAt: bigint;
  answeredAt?: bigint;
  zxid?: bigint;
  /** For "open": the session that it made. */
  session?: Credentials;
}

export interface Node {
  readonly value: string;
  /** Session id, or 0 for a persistent node. */
  readonly owner: bigint;
}

export class FolderState {
  exists = false;
  readonly nodes: Map<string, Node> = new Map();
  /** Children ever created: the source of sequence numbers. */
  createdCount = 0;
  /** The session that is open. */
  session: Credentials | undefined;
  /** The session that was closed last. */
  closedSession: Credentials | undefined;
  highestZxid = 0n;

  copy(): FolderState {
    const copy = new FolderState();
    copy.exists = this.exists;
    for (const [name, node] of this.nodes) copy.nodes.set(name, node);
    copy.createdCount = this.createdCount;
    copy.session = this.session;
    copy.closedSession = this.closedSession;
    copy.highestZxid = this.highestZxid;
    return copy;
  }

  apply({ change, session, zxid = 0n }: Pick<Step, "change" | "session" | "zxid">): void {
    if (zxid > this.highestZxid) this.highestZxid = zxid;
    switch (change.kind) {
      case "open":
        this.session = session;
        return;
      case "close":
        for (const [name, { owner }] of this.nodes) if (owner === this.session?.id) this.nodes.delete(name);
        this.closedSession = this.session;
        this.session = undefined;
        return;
      case "folder":
        this.exists = true;
        return;
      case "create":
      case "append": {
        const name = change.kind === "create" ? change.name : this.nextName(change.prefix);
        const owner = change.ephemeral ? (this.session?.id ?? 0n) : 0n;
        this.nodes.set(name, { value: change.value, owner });
        this.createdCount++;
        return;
      }
      case "set":
        this.nodes.set(change.name, { value: change.value, owner: this.nodes.get(change.name)?.owner ?? 0n });
        return;
      case "delete":
        this.nodes.delete(change.name);
        return;
      case "multi":
        for (const part of change.parts) this.apply({ change: part });
        return;
    }
  }

  nextName(prefix: string): string {
    return `${prefix}${String(this.createdCount).padStart(10, "0")}`;
  }

  /** How the folder that was found differs from this state; undefined when it does not. */
  differenceFrom(found: FoundFolder | undefined): string | undefined {
    if (found === undefined) return this.exists ? "the folder is missing" : undefined;
    if (!this.exists) return "the folder was never asked for";
    for (const [name, expected] of this.nodes) {
      const node = found.nodes.get(name);
      if (node === undefined) return `${name} is missing`;
      if (node.value !== expected.value)
        return `${name} holds ${node.value.slice(0, 24)}, not ${expected.value.slice(0, 24)}`;
      if (node.owner !== expected.owner) return `${name} belongs to ${hex(node.owner)}, not ${hex(expected.owner)}`;
    }
    for (const [name, { owner }] of found.nodes) {
      if (!this.nodes.has(name)) return `${name} should be gone${owner === 0n ? "" : ` (ephemeral of ${hex(owner)})`}`;
    }
    if (found.createdCount === this.createdCount) return undefined;
    return `${found.createdCount} children were ever created, not ${this.createdCount}`;
  }
}

export interface FoundFolder {
  readonly nodes: ReadonlyMap<string, Node>;
  /** Distinguishes a node that was created and deleted from one that never existed. */
  readonly createdCount: number;
}

export function hex(sessionId: bigint): string {
  return `0x${BigInt.asUintN(64, sessionId).toString(16)}`;
}

export interface Bounds {
  /** Steps answered: these must be there. */
  readonly answered: number;
  /** Steps sent: nothing beyond may be there. */
  readonly sent: number;
}

/**
 * The steps that had been answered and those that had been sent at a moment. Answers come in order,
 * so they are a prefix.
 */
export function boundsAt(steps: readonly Step[], moment: bigint): Bounds {
  return {
    answered: countWhile(steps, ({ answeredAt }) => answeredAt !== undefined && answeredAt <= moment),
    sent: countWhile(steps, ({ sentAt }) => sentAt <= moment),
  };
}

function countWhile<T>(values: readonly T[], holds: (value: T) => boolean): number {
  const end = values.findIndex((value) => !holds(value));
  return end === -1 ? values.length : end;
}

/** A folder's book: how it was to begin with, and every step since. */
export interface Book {
  readonly path: string;
  readonly base: FolderState;
  readonly steps: readonly Step[];
}

/** The prefixes that explain what was found, by length, each with the state that it leaves. */
export function explanations(
  book: Pick<Book, "base" | "steps">,
  found: FoundFolder | undefined,
  bounds: Bounds,
): ReadonlyMap<number, FolderState> {
  const state = stateAfter(book, bounds.answered);
  const matching = new Map<number, FolderState>();
  for (let length = bounds.answered; length <= bounds.sent; length++) {
    const last = book.steps[length - 1];
    if (length > bounds.answered && last !== undefined) state.apply(last);
    if (state.differenceFrom(found) === undefined) matching.set(length, state.copy());
  }
  return matching;
}

export function stateAfter({ base, steps }: Pick<Book, "base" | "steps">, length: number): FolderState {
  const state = base.copy();
  for (const step of steps.slice(0, length)) state.apply(step);
  return state;
}
