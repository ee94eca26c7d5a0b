/** For the test that kills it: fills a new directory without end, and says where it stands. */
import { fillNewDirectory } from "../offline/new-directory.ts";

const [, , dataDir = "", logDir = ""] = process.argv;

await fillNewDirectory({ directories: { dataDir, logDir }, command: "the command", warn: () => {} }, async () => {
  process.send?.("filling");
  await new Promise<never>(() => {});
});
