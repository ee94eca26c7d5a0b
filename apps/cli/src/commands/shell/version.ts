import { createRequire } from "node:module";
import { type Command, malformed } from "../../command.ts";

const packageJson = createRequire(import.meta.url)("../../../package.json") as { readonly version: string };

export const VERSION: string = packageJson.version;

export const version: Command = {
  name: "version",
  synopsis: "",
  flags: [],
  summary: "Prints the version of this program.",
  run({ operands, output }) {
    if (operands.length > 0) throw malformed(version);
    output.line(`ZooKeeper CLI version: ${VERSION}, zooid-cli on Node.js ${process.versions.node}`);
    return { version: VERSION };
  },
};
