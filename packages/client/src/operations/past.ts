/** Questions about the past, to a Zooid server that keeps a history. */
import {
  ChangesScope,
  HISTORY_FEATURE,
  opName,
  type PastChildren,
  type PastMoment,
  type PastNode,
  type Zxid,
  type ZxidRange,
} from "@zooid/model";
import type { ShownChange, ShownChanges } from "@zooid/wire";
import type { CallOptions } from "../calls/call.ts";
import { GET_CHANGES, GET_PAST, GET_PAST_CHILDREN, type Operation } from "../calls/operation.ts";
import { historyGone, zkError } from "../errors.ts";
import type { HistoryOptions } from "./node-options.ts";
import { checkedPath, underRoot, withoutRoot } from "./paths.ts";
import { hasFeature } from "./server-features.ts";
import type { ViewPlace } from "./view-place.ts";

/** A change of a node, or transactions that the history lacks. */
export type HistoryItem = HistoryChange | ({ readonly kind: "gap" } & ZxidRange);

export interface HistoryChange extends Omit<ShownChange, "op" | "who"> {
  readonly kind: "change";
  /**
   * Whose change it was, for clients that have ADMIN on the node; null for others, for changes that
   * servers make themselves, such as the end of a session, and where it was not recorded.
   */
  readonly who: ChangeAuthor | null;
  /** `CREATE`, `CREATE2`, `SET_DATA`, `DELETE` and so on, as its client asked it. */
  readonly op: string;
}

export interface ChangeAuthor {
  /** The address of the client's connection, which a proxy may have made. */
  readonly address: string;
  /** In short, such as `digest:alice`. */
  readonly identities: readonly string[];
}

const PAGE_SIZE = 200;

export function readPast(place: ViewPlace, path: string, at: Zxid | Date, options: CallOptions): Promise<PastNode> {
  return askHistory(place, path, { operation: GET_PAST, body: momentOf(at), options });
}

export function readPastChildren(
  place: ViewPlace,
  path: string,
  at: Zxid | Date,
  options: CallOptions,
): Promise<PastChildren> {
  return askHistory(place, path, { operation: GET_PAST_CHILDREN, body: momentOf(at), options });
}

export async function* readChanges(
  place: ViewPlace,
  path: string,
  options: HistoryOptions,
): AsyncGenerator<HistoryItem, void, undefined> {
  const { pageSize: countMax = PAGE_SIZE, after: begin = 0 as Zxid, recursive = false, ...limits } = options;
  const scope = recursive ? ChangesScope.SUBTREE : ChangesScope.NODE;
  for (let after = begin; ; ) {
    const page = await askHistory(place, path, {
      operation: GET_CHANGES,
      body: { after, countMax, scope },
      options: limits,
    });
    demandReached(page, after, "history", path);
    for (const item of itemsOf(place.root, page)) yield item;
    if (page.isLast) return;
    after = page.reached;
  }
}

/** @throws ZkError HISTORY_GONE where a history begins later than behind a transaction */
export function demandReached({ begins, reached }: ShownChanges, after: Zxid, op: string, path: string): void {
  if (after > 0 && after < begins) throw historyGone({ first: (begins + 1) as Zxid, last: reached }, op, path);
}

function momentOf(at: Zxid | Date): PastMoment {
  return typeof at === "number" ? { zxid: at } : { timeMs: at.getTime() };
}

/** The items of a page, by their zxids. */
export function itemsOf(root: string, { changes, gaps }: ShownChanges): readonly HistoryItem[] {
  const items = [
    ...changes.map((change) => ({ place: change.zxid, item: changeOf(root, change) })),
    ...gaps.map((gap) => ({ place: gap.end, item: { kind: "gap", ...gap } as const })),
  ];
  return items.sort((a, b) => a.place - b.place).map(({ item }) => item);
}

function changeOf(root: string, { op, path, who, ...change }: ShownChange): HistoryChange {
  const [address = "", ...identities] = who.split("\n");
  const author = who === "" ? null : { address, identities };
  return { kind: "change", path: withoutRoot(root, path), op: opName(op) ?? `OP_${op}`, who: author, ...change };
}

/** Asks a server that keeps a history. @throws ZkError UNIMPLEMENTED for another one */
export async function askHistory<B, T>(
  { driver, root, view }: ViewPlace,
  shownPath: string,
  {
    operation,
    body,
    options,
  }: { readonly operation: Operation<B, T>; readonly body: B; readonly options: CallOptions },
): Promise<T> {
  const path = underRoot(root, checkedPath(shownPath, operation.name));
  const limits = view.limitsOf(options);
  if (!(await hasFeature(driver, HISTORY_FEATURE, options))) {
    throw zkError({ code: "UNIMPLEMENTED", op: operation.name, path: shownPath, outcome: "not-sent" });
  }
  return await view.ask(driver, { operation, path, shownPath, body, syncPath: undefined, options: limits });
}
