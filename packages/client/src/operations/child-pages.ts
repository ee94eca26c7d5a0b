/**
 * Children in pages, in the order of their names, with Stats and data: by Zooid's own operation
 * where the server has it, and elsewhere by one whole listing and a read of each child.
 */
import { ChildDetail, joinPath, type Stat } from "@zooid/model";
import type { ChildPageRequest, ListedChild, ListedChildren } from "@zooid/wire";
import type { CallOptions } from "../calls/call.ts";
import {
  type Children,
  childPageOperation,
  EXISTS,
  GET_CHILDREN,
  GET_DATA_OR_NULL,
  type NodeData,
  type Operation,
} from "../calls/operation.ts";
import { isZkError } from "../errors.ts";
import type { ChildPagesOptions } from "./node-options.ts";
import { checkedPath, underRoot } from "./paths.ts";
import { hasFeature } from "./server-features.ts";
import type { ViewPlace } from "./view-place.ts";

/** Some of a node's children, in the order of their names. */
export interface ChildrenPage {
  readonly children: readonly ListedChild[];
  /** The node's own Stat when the page was read. */
  readonly stat: Stat;
}

/** Servers answer no more at a time. */
const PAGE_SIZE = 1000;
const FEATURE = "child-pages";
const OP = "childPages";

export async function* childPages(
  place: ViewPlace,
  path: string,
  options: ChildPagesOptions,
): AsyncGenerator<ChildrenPage, void, undefined> {
  const { pageSize = PAGE_SIZE, detail = "stats", sync, signal, timeoutMs, retry } = options;
  const limits = { signal, timeoutMs, retry };
  const lister = new Lister(place, { shownPath: path, pageSize, detail: DETAIL[detail], limits });
  let { after } = options;
  for (let isFirst = true; ; isFirst = false) {
    const page = await lister.page(after, isFirst && sync === true);
    if (page.children.length > 0 || isFirst) yield { children: page.children, stat: page.stat };
    if (page.isLast) return;
    // A page of only deleted children has none, and its own end.
    after = page.next ?? page.children.at(-1)?.name ?? after;
  }
}

const DETAIL = { names: ChildDetail.NAME, stats: ChildDetail.STAT, data: ChildDetail.DATA } as const;

interface Page extends ListedChildren {
  /** The name to continue behind, where it is not that of the last child. */
  readonly next?: string | undefined;
}

interface Listing {
  readonly shownPath: string;
  readonly pageSize: number;
  readonly detail: ChildDetail;
  readonly limits: CallOptions;
}

class Lister {
  readonly #place: ViewPlace;
  readonly #listing: Listing;
  readonly #path: string;
  /** All names, where the server has no pages. */
  #whole: Children | undefined;

  constructor(place: ViewPlace, listing: Listing) {
    this.#place = place;
    this.#listing = listing;
    this.#path = underRoot(place.root, checkedPath(listing.shownPath, OP));
  }

  async page(after: string | undefined, sync: boolean): Promise<Page> {
    if (this.#whole === undefined && (await this.#hasPages())) {
      try {
        return await this.#ask(this.#path, pageOperation(this.#listing.detail), this.#requestOf(after), sync);
      } catch (error) {
        // After a change to a server without pages; it has closed the connection.
        if (!isZkError(error, "UNIMPLEMENTED")) throw error;
      }
    }
    this.#whole ??= sorted(await this.#ask(this.#path, LIST, undefined, sync));
    return this.#read(this.#whole, after);
  }

  #requestOf(after: string | undefined): ChildPageRequest {
    return { after, countMax: this.#listing.pageSize, detail: this.#listing.detail };
  }

  /** The next children of a whole listing; those that are deleted meanwhile are left out. */
  async #read({ names, stat }: Children, after: string | undefined): Promise<Page> {
    const from = after === undefined ? 0 : firstBehind(names, after);
    const taken = names.slice(from, from + this.#listing.pageSize);
    const isLast = from + taken.length >= names.length;
    const found = await Promise.all(taken.map((name) => this.#readChild(name)));
    return { children: found.filter((child) => child !== null), isLast, stat, next: taken.at(-1) };
  }

  async #readChild(name: string): Promise<ListedChild | null> {
    const path = joinPath(this.#path, name);
    try {
      switch (this.#listing.detail) {
        case ChildDetail.NAME:
          return { name, stat: null, data: null };
        case ChildDetail.STAT: {
          const stat = await this.#ask(path, STAT, undefined, false);
          return stat === null ? null : { name, stat, data: null };
        }
        case ChildDetail.DATA: {
          const node = await this.#ask(path, DATA, undefined, false);
          return node === null ? null : { name, ...node };
        }
      }
    } catch (error) {
      if (isZkError(error, "NO_AUTH")) return { name, stat: null, data: null };
      throw error;
    }
  }

  #hasPages(): Promise<boolean> {
    return hasFeature(this.#place.driver, FEATURE, this.#listing.limits);
  }

  #ask<B, T>(path: string, operation: Operation<B, T>, body: B, sync: boolean): Promise<T> {
    const { driver, view } = this.#place;
    const options = view.limitsOf(this.#listing.limits);
    const syncPath = sync ? path : undefined;
    return view.ask(driver, { operation, path, shownPath: this.#listing.shownPath, body, syncPath, options });
  }
}

/** As the caller's method, in errors. */
const LIST: Operation<undefined, Children> = { ...GET_CHILDREN, name: OP };
const STAT: Operation<undefined, Stat | null> = { ...EXISTS, name: OP };
const DATA: Operation<undefined, NodeData | null> = { ...GET_DATA_OR_NULL, name: OP };

const OPERATIONS = Object.values(ChildDetail).map((detail) => ({ detail, operation: childPageOperation(detail) }));

function pageOperation(wanted: ChildDetail): Operation<ChildPageRequest, ListedChildren> {
  return OPERATIONS.find(({ detail }) => detail === wanted)?.operation ?? childPageOperation(wanted);
}

/**
 * In the order of the servers' pages: no name has a letter beyond U+FFFF, so text is ordered as its
 * bytes.
 */
function sorted({ names, stat }: Children): Children {
  return { names: names.sort(), stat };
}

function firstBehind(names: readonly string[], after: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] as string) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
