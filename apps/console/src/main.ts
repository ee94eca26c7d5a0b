import { createRequire } from "node:module";
import { ConsoleServer } from "@zooid/web-console";
import { type Command, parseCommandLine, USAGE, UsageError } from "./command-line.ts";
import { ExitStatus } from "./exit-status.ts";
import { listenFault } from "./listen-fault.ts";
import { tlsOfFiles } from "./tls-files.ts";

const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };

try {
  await run(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  for (const line of text.split("\n")) console.error(`zooid-console: ${line}`);
  process.exit(error instanceof UsageError ? ExitStatus.USAGE : ExitStatus.FAILED);
}

async function run(command: Command): Promise<void> {
  switch (command.kind) {
    case "help":
      console.log(USAGE);
      return;
    case "version":
      console.log(`zooid-console ${version} on Node.js ${process.versions.node}`);
      return;
    case "serve":
      await serve(command);
  }
}

async function serve(command: Extract<Command, { readonly kind: "serve" }>): Promise<void> {
  const { ensembles, sessionTimeoutMs, port, address, hostNames, roles, tls } = command;
  const [{ name, hosts, adminUrls }, ...more] = ensembles;
  const server = new ConsoleServer({
    hosts,
    port,
    address,
    hostNames,
    roles,
    adminUrls,
    version,
    ...(name === undefined ? {} : { name }),
    more: more.map((each) => ({ ...each, name: each.name ?? each.hosts })),
    client: { sessionTimeoutMs, ...(tls === undefined ? {} : { tls: tlsOfFiles(tls) }) },
    warn: (text) => console.error(`zooid-console: ${text}`),
  });
  try {
    await server.listen();
  } catch (cause) {
    throw new Error(listenFault(cause, { address, port }), { cause });
  }
  const shown = address === "*" ? "localhost" : address.includes(":") ? `[${address}]` : address;
  for (const [at, ensemble] of ensembles.entries()) {
    const place = `http://${shown}:${server.port}${at === 0 ? "" : `/ensembles/${ensemble.name}`}/console/`;
    console.log(`zooid-console ${version}: ${place} in front of ${ensemble.hosts}`);
  }
  const stop = (): void => {
    void server[Symbol.asyncDispose]().then(() => process.exit(ExitStatus.OK));
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}
