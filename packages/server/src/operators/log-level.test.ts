import { expect, test } from "vitest";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";
import { LOG_LEVELS, type LogLevel } from "./log-level.ts";

/** A log that writes what its level allows. */
class LevelLog {
  readonly lines: string[] = [];
  level: LogLevel = "info";

  readonly debug = this.#writer("debug");
  readonly info = this.#writer("info");
  readonly warn = this.#writer("warn");
  readonly error = this.#writer("error");

  #writer(of: LogLevel): (text: string) => void {
    return (text) => {
      if (LOG_LEVELS.indexOf(of) >= LOG_LEVELS.indexOf(this.level)) this.lines.push(text);
    };
  }
}

test("a change of the log's level is in the log once, if the level before or the one behind allows it", async () => {
  const log = new LevelLog();
  await using server = await startTestServer({
    log,
    superDigest: SUPER_DIGEST,
    admin: { port: 0, rateLimiterIntervalMs: 0 },
  });
  for (const before of LOG_LEVELS) {
    for (const after of LOG_LEVELS) {
      log.level = before;
      log.lines.length = 0;
      const path = `/commands/set_log_level?level=${after}`;
      const { status } = await ask(server.adminPort, path, { method: "POST", headers: SUPER });
      expect([status, log.level]).toEqual([200, after]);
      const isWritten = before !== after && [before, after].some((level) => ["debug", "info"].includes(level));
      const text = `the log level is ${after}, was ${before}: an operator at 127.0.0.1 has changed it`;
      expect(log.lines, `${before} to ${after}`).toEqual(isWritten ? [text] : []);
    }
  }
});
