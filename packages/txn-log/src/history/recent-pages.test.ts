import type { HistoryAnswer, HistoryQuery, Zxid } from "@zooid/model/storage";
import { beforeEach, expect, test } from "vitest";
import { RecentPages } from "./recent-pages.ts";

const FILES = {};
let reads: string[];
beforeEach(() => {
  reads = [];
});

function query(path: string, after = 0): Extract<HistoryQuery, { readonly kind: "changes" }> {
  return { kind: "changes", path: Buffer.from(path), scope: "subtree", after: after as Zxid, countMax: 10 };
}

/** A page with one change of that many bytes. */
function page(bytes: number): HistoryAnswer {
  const change = { path: Buffer.from("/a"), zxid: 2 as Zxid, timeMs: 0, who: "", op: 5, version: 1, acl: undefined };
  const changes = [{ ...change, data: Buffer.alloc(bytes) }];
  return { kind: "changes", begins: 1 as Zxid, changes, reached: 2 as Zxid, isLast: true, gaps: [] };
}

function ask(pages: RecentPages, files: object, asked: ReturnType<typeof query>, bytes = 1): HistoryAnswer {
  return pages.answer(files, asked, () => {
    reads.push(`${Buffer.from(asked.path)} ${asked.after}`);
    return page(bytes);
  });
}

test("a page is read once, until the files change", () => {
  const pages = new RecentPages();
  const first = ask(pages, FILES, query("/a"));
  expect(ask(pages, FILES, query("/a"))).toBe(first);
  for (const other of [query("/b"), query("/a", 1), { ...query("/a"), countMax: 9 }]) ask(pages, FILES, other);
  ask(pages, FILES, { ...query("/a"), scope: "node" });
  expect(reads).toEqual(["/a 0", "/b 0", "/a 1", "/a 0", "/a 0"]);
  ask(pages, {}, query("/a"));
  expect(reads).toHaveLength(6);
});

test("the pages asked for last are kept, up to a number of bytes and of pages", () => {
  const pages = new RecentPages(4000);
  for (const path of ["/a", "/b", "/a", "/c", "/a", "/b"]) ask(pages, FILES, query(path), 1000);
  expect(reads).toEqual(["/a 0", "/b 0", "/c 0", "/b 0"]);
  for (let i = 0; i < 2; i++) ask(pages, FILES, query("/large"), 4000);
  expect(reads.filter((read) => read === "/large 0")).toHaveLength(2);

  const many = new RecentPages();
  for (let after = 0; after <= 1000; after++) ask(many, FILES, query("/a", after));
  const before = reads.length;
  ask(many, FILES, query("/a", 1));
  expect(reads).toHaveLength(before);
  ask(many, FILES, query("/a", 0));
  expect(reads).toHaveLength(before + 1);
});
