type Environment = Readonly<Record<string, string>>;

/** The keys that the official image writes from variables, with its defaults. */
const WRITTEN: readonly (readonly [key: string, variable: string, fallback: string])[] = [
  ["dataDir", "ZOO_DATA_DIR", "/data"],
  ["dataLogDir", "ZOO_DATA_LOG_DIR", "/datalog"],
  ["tickTime", "ZOO_TICK_TIME", "2000"],
  ["initLimit", "ZOO_INIT_LIMIT", "5"],
  ["syncLimit", "ZOO_SYNC_LIMIT", "2"],
  ["autopurge.snapRetainCount", "ZOO_AUTOPURGE_SNAPRETAINCOUNT", "3"],
  ["autopurge.purgeInterval", "ZOO_AUTOPURGE_PURGEINTERVAL", "0"],
  ["maxClientCnxns", "ZOO_MAX_CLIENT_CNXNS", "60"],
  ["standaloneEnabled", "ZOO_STANDALONE_ENABLED", "true"],
  ["admin.enableServer", "ZOO_ADMINSERVER_ENABLED", "true"],
];

/** The files that the official image of Apache ZooKeeper makes of its variables. */
export function officialImageFiles(environment: Environment): Readonly<Record<string, string>> {
  const whitelist = environment["ZOO_4LW_COMMANDS_WHITELIST"];
  const lines = [
    ...WRITTEN.map(([key, variable, fallback]) => `${key}=${environment[variable] ?? fallback}`),
    ...words(environment["ZOO_SERVERS"] ?? "server.1=localhost:2888:3888;2181"),
    ...(whitelist === undefined ? [] : [`4lw.commands.whitelist=${whitelist}`]),
    ...words(environment["ZOO_CFG_EXTRA"] ?? ""),
  ];
  return { "zoo.cfg": `${lines.join("\n")}\n`, "data/myid": `${environment["ZOO_MY_ID"] ?? "1"}\n` };
}

function words(list: string): readonly string[] {
  return list.split(/\s+/).filter((word) => word !== "");
}
