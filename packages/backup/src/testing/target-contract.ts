import { expect, test } from "vitest";
import type { BackupTarget } from "../targets/backup-target.ts";

/** The promises of each kind of target. @param open gives an empty one */
export function targetContract(open: () => BackupTarget | Promise<BackupTarget>): void {
  test("a written object is read unchanged, and another of its name replaces it", async () => {
    const target = await open();
    await target.put("log/a", Buffer.from("first"));
    await target.put("log/a", Buffer.from("second"));
    expect((await target.get("log/a", 6))?.toString()).toBe("second");
  });

  test("an object without bytes is there", async () => {
    const target = await open();
    await target.put("log/empty", Buffer.alloc(0));
    expect(await target.get("log/empty", 10)).toHaveLength(0);
    expect(await target.tail("log/empty", 10)).toEqual({ bytes: Buffer.alloc(0), size: 0 });
  });

  test("what is not there is undefined, and is removed", async () => {
    const target = await open();
    expect(await target.get("log/none", 1)).toBeUndefined();
    expect(await target.tail("log/none", 1)).toBeUndefined();
    await target.remove("log/none");
    await target.put("log/a", Buffer.from("x"));
    await target.remove("log/a");
    expect(await target.get("log/a", 1)).toBeUndefined();
    expect(await target.list("log/")).toEqual([]);
  });

  test("no more than its bound is read of an object", async () => {
    const target = await open();
    await target.put("log/a", Buffer.alloc(100_000));
    await expect(target.get("log/a", 99_999)).rejects.toMatchObject({ code: "DAMAGED" });
  });

  test("the end of an object is read alone", async () => {
    const target = await open();
    await target.put("log/a", Buffer.from("0123456789"));
    expect(await target.tail("log/a", 3)).toEqual({ bytes: Buffer.from("789"), size: 10 });
    expect(await target.tail("log/a", 30)).toEqual({ bytes: Buffer.from("0123456789"), size: 10 });
  });

  test("a listing has all objects below a prefix, by name, with their sizes", async () => {
    const target = await open();
    const names = ["base/2/0000", "base/2/manifest.json", "log/1", "log/2", "log/3", "log/4", "log/5", "logs"];
    for (const name of names.toReversed()) await target.put(name, Buffer.from(name));
    const listed = [...(await target.list("base/")), ...(await target.list("log/"))];
    expect(listed).toEqual(names.slice(0, -1).map((name) => ({ name, bytes: name.length })));
    expect(await target.list("none/")).toEqual([]);
    expect((await target.list("log/", "log/2")).map(({ name }) => name)).toEqual(["log/3", "log/4", "log/5"]);
    expect(await target.list("log/", "log/5")).toEqual([]);
  });
}
