import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf, FOREIGN_CLIENTS } from "@zooid/conformance/internal/clients";
import { startCuttingProxy } from "@zooid/conformance/internal/servers/cutting-proxy";
import { run } from "@zooid/trials/internal/processes/run";
import { ROOT } from "../pack/public-packages.ts";

/** The line of a scenario with the address of its client. */
const BY_ADDRESS = /^get by address: .*$/m;

/**
 * kazoo's scenario at a server, whose transcript is the one recorded on Apache ZooKeeper.
 *
 * @param isTranslated whether the server sees another address than the client's, as behind a bridge
 * @returns the number of its lines
 */
export async function runKazoo(port: number, isTranslated = false): Promise<number> {
  const kazoo = FOREIGN_CLIENTS.find(({ name }) => name === "kazoo");
  if (kazoo === undefined) throw new Error("kazoo is not among the foreign clients");
  const begin = kazoo.build();
  await using proxy = await startCuttingProxy(port);
  const direct = `127.0.0.1:${port}`;
  const proxied = `127.0.0.1:${proxy.port}`;
  const [program = "", ...args] = commandOf(kazoo, begin, { direct, proxied, admin: "" });
  const { stdout } = await run(program, args, ROOT);
  const recorded = readFileSync(join(ROOT, "packages/conformance/transcripts/kazoo.txt"), "utf8").trimEnd();
  const expected = isTranslated ? recorded.replace(BY_ADDRESS, "get by address: NoAuthError") : recorded;
  if (stdout.trimEnd() !== expected) throw new Error(`kazoo's transcript is not the recorded one:\n${stdout}`);
  return expected.split("\n").length;
}
