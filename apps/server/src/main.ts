import { createRequire } from "node:module";
import { ConfigError, type ServerOptions, startServer, type TestBreak, writePeerSecretFile } from "@zooid/server";
import { parseCommandLine, USAGE } from "./command-line.ts";
import { exitStatusOf, explain } from "./exit-status.ts";
import { openLog } from "./logger.ts";
import { stopOnSignals } from "./shutdown.ts";

const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };

await main();

async function main(): Promise<void> {
  try {
    const command = parseCommandLine(process.argv.slice(2));
    switch (command.kind) {
      case "help":
        console.log(USAGE);
        return;
      case "version":
        console.log(`zooid-server ${version} on Node.js ${process.versions.node}`);
        return;
      case "init-secret":
        initSecret(command.file);
        return;
      case "serve":
        await serve(command.options, command.warnings, openLog(command.logLevel));
    }
  } catch (error) {
    for (const line of explain(error).split("\n")) console.error(`zooid-server: ${line}`);
    process.exit(exitStatusOf(error));
  }
}

function initSecret(file: string): void {
  try {
    writePeerSecretFile(file);
  } catch (error) {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    const reason = exists
      ? "it exists, and a secret is not written over"
      : error instanceof Error
        ? error.message
        : String(error);
    throw new ConfigError([`cannot write a secret to ${file}: ${reason}`]);
  }
  console.log(
    `wrote a new secret to ${file}; every server of the ensemble gets this file and zooid.peerSecretFile=${file}`,
  );
}

async function serve(
  options: ServerOptions,
  warnings: readonly string[],
  log: ReturnType<typeof openLog>,
): Promise<void> {
  for (const warning of warnings) log.warn(warning);
  const server = await startServer({
    ...options,
    ...testBreak(),
    version,
    log,
    onFailure: (error) => {
      log.error(`the server stops: ${explain(error)}`);
      process.exit(exitStatusOf(error));
    },
  });
  // Before the line that says it is ready: whoever reads that may send a signal at once.
  stopOnSignals(server, log);
  log.info(
    `zooid-server ${version} serves ZooKeeper clients on ${server.address}:${server.port}, data in ${options.dataDir ?? "memory"} ` +
      `(${server.recovered}), Node.js ${process.versions.node}, process ${process.pid}`,
  );
}

/** Damage that the power-cut test asks for, to see itself fail. */
function testBreak(): { testBreak?: TestBreak } {
  const value = process.env["ZOOID_TEST_BREAK"];
  return value === "synchronous-normal" || value === "reply-before-sync" ? { testBreak: value } : {};
}
