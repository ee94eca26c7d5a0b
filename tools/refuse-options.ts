/**
 * An option that a tool does not have is one sentence, and status 2; every other error keeps its
 * stack.
 */
import { basename } from "node:path";

process.once("uncaughtException", (error: NodeJS.ErrnoException) => {
  // The code of a program that has ended is a number.
  if (!String(error.code).startsWith("ERR_PARSE_ARGS_")) {
    process.nextTick(() => {
      throw error;
    });
    return;
  }
  const name = basename(process.argv[1] ?? "", ".ts");
  console.error(`npm run tool -- ${name}: ${error.message} (--help prints the options)`);
  process.exit(2);
});
