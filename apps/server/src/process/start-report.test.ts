import type { LogLevel } from "@zooid/embedded-server";
import { composeZxid, ZXID_NONE } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { processLog } from "../logs/logger.ts";
import { type StartFacts, startReport, terminalLines } from "./start-report.ts";

const FACTS: StartFacts = {
  version: "1.2.3",
  client: { address: "127.0.0.1", port: 2181 },
  securePort: undefined,
  dataDir: "/srv/data",
  recovered: "recovered 5 znodes and 0 sessions at 0x0 in 4 ms, 0 transactions from the log",
  zxid: ZXID_NONE,
  admin: { url: "http://127.0.0.1:8080/commands" },
  metricsPort: 7000,
};
const CONSOLE = "http://127.0.0.1:8080/console/";

function reported(level: LogLevel, isTerminal: boolean): { logged: readonly string[]; printed: readonly string[] } {
  const logged: string[] = [];
  const printed: string[] = [];
  const log = processLog(level, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) });
  const report = startReport(log, isTerminal, (line) => printed.push(line));
  report.serving({ ...FACTS, securePort: 2281 });
  report.console(CONSOLE);
  return { logged, printed };
}

test("a person at a terminal reads four lines, and the log has none of them", () => {
  const { logged, printed } = reported("info", true);
  expect(logged).toEqual([]);
  expect(printed).toEqual([
    "Zooid 1.2.3 serves ZooKeeper clients on 127.0.0.1:2181",
    "Data:    /srv/data (new)",
    "Console: http://127.0.0.1:8080/console/",
    "Try, in another terminal: npx zooid-cli create /greeting hello",
  ]);
});

test("without a terminal each fact is a line of the log", () => {
  const { logged, printed } = reported("info", false);
  expect(printed).toEqual([]);
  expect(logged).toEqual([
    "operators are answered on http://127.0.0.1:8080/commands, /readyz and /metrics",
    "metrics are answered on port 7000 at /metrics",
    "clients that speak TLS come to port 2281",
    expect.stringMatching(
      /^zooid-server 1\.2\.3 serves ZooKeeper clients on 127\.0\.0\.1:2181, data in \/srv\/data \(/,
    ),
    "the console is at http://127.0.0.1:8080/console/",
  ]);
});

test.each(["warn", "error"] as const)("a terminal with the log level %s stays quiet", (level) => {
  expect(reported(level, true)).toEqual({ logged: [], printed: [] });
});

describe("the command to try", () => {
  test.each<[string, Partial<StartFacts>, string]>([
    ["reads the root where the data is not new", { zxid: composeZxid(1, 7) }, "npx zooid-cli ls /"],
    [
      "names the server where its port is not the default",
      { client: { address: "127.0.0.1", port: 2182 } },
      "npx zooid-cli -server 127.0.0.1:2182 create /greeting hello",
    ],
    [
      "connects to the loopback where the server listens on each address",
      { client: { address: "*", port: 2182 } },
      "npx zooid-cli -server 127.0.0.1:2182 create /greeting hello",
    ],
    [
      "brackets an IPv6 address",
      { client: { address: "::1", port: 2181 } },
      "npx zooid-cli -server [::1]:2181 create /greeting hello",
    ],
    ["needs no certificate where each client port has TLS", { securePort: 2181 }, "npx zooid-server status ZOO.CFG"],
  ])("%s", (_, facts, command) => {
    expect(terminalLines({ ...FACTS, ...facts }, CONSOLE).at(-1)).toBe(`Try, in another terminal: ${command}`);
  });
});

test("data that is kept is described, and a console that is off is named", () => {
  const [, data, page] = terminalLines({ ...FACTS, zxid: composeZxid(1, 7) }, undefined);
  expect(data).toBe(`Data:    /srv/data (${FACTS.recovered}, last zxid 0x100000007)`);
  expect(page).toBe("Console: not served");
});
