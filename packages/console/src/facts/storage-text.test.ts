import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";
import { parseStorage } from "./storage-text.ts";

const TEXT = [
  ...["zk_version\t1.0", "zk_zooid_disk_low\t1", "zk_zooid_disk_full\t0"],
  ...["zk_data_zooid_disk_free_bytes\t5000000000", "zk_log_zooid_disk_free_bytes\t7"],
  ...["zk_clients_zooid_tls_certificate_not_after_seconds\t2000000000"],
  ...["zk_peers_zooid_tls_certificate_not_after_seconds\tNaN", ""],
].join("\n");

test("disks and certificates are read", () => {
  expect(parseStorage(TEXT)).toEqual({
    dataFreeBytes: "5000000000",
    logFreeBytes: "7",
    room: "low",
    certificates: [{ use: "clients", expiresAt: "2000000000000" }],
  });
  expect(parseStorage(TEXT.replace("disk_full\t0", "disk_full\t1"))?.room).toBe("full");
});

test("another server's figures have none", () => {
  expect(parseStorage("zk_version\t3.9.5\nzk_znode_count\t5\n")).toBeUndefined();
  expect(parseStorage("")).toBeUndefined();
});

test("a server in memory has no disk, and room enough", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/ensemble");
  expect(json.members[0].storage).toEqual({
    dataFreeBytes: null,
    logFreeBytes: null,
    room: "enough",
    certificates: [],
  });
});
