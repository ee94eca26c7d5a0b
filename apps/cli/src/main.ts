import { ExitStatus } from "./exit-status.ts";
import { runCommandLine } from "./run.ts";

// A reader that closes its end, as `| head` does, is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) =>
  process.exit(error.code === "EPIPE" ? ExitStatus.OK : ExitStatus.FAILED),
);

process.on("uncaughtException", (error) => {
  console.error(`zooid-cli: this is a defect, please report it: ${error.message}`);
  process.exit(ExitStatus.FAILED);
});

const { stdin, stdout, stderr, env: environment } = process;
process.exitCode = await runCommandLine(process.argv.slice(2), { stdin, stdout, stderr, environment });
