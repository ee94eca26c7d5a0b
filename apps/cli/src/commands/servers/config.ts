import type { NodeData, Watched } from "@zooid/client";
import { type Command, FLAG_STAT, FLAG_WATCH } from "../../command.ts";
import { CONFIG_PATH } from "../../members/configuration.ts";
import { clusterConfigLine, parseClusterConfig } from "../../texts/cluster-config.ts";
import { dataText } from "../../texts/data-text.ts";
import { statJson, statLines } from "../../texts/stat-text.ts";

export const config: Command = {
  name: "config",
  synopsis: "[-c] [-w] [-s]",
  flags: [FLAG_STAT, FLAG_WATCH, { name: "c" }],
  summary: "Prints the ensemble's configuration; -c only its version and the client addresses.",
  async run({ connection, flags, output, signal }) {
    const client = await connection.ready({ path: CONFIG_PATH, isAbsolute: true, signal });
    const watch = flags.has("w");
    const found: NodeData & Partial<Watched> = await (watch
      ? client.get(CONFIG_PATH, { watch, signal })
      : client.get(CONFIG_PATH, { signal }));
    connection.watches.addOneShot("data", CONFIG_PATH, found.watch);
    const text = found.data === null ? "" : dataText(found.data);
    const cluster = parseClusterConfig(text);
    output.line(flags.has("c") ? clusterConfigLine(cluster) : text);
    if (flags.has("s")) output.lines(statLines(found.stat));
    return { config: text, ...cluster, stat: statJson(found.stat) };
  },
};
