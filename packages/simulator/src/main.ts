import { parseArgs } from "node:util";
import { installMutation } from "./mutations/mutate-source.ts";
import { MUTATIONS } from "./mutations/mutations.ts";
import { wholeOption } from "./whole-option.ts";

/**
 * `npm run simulate -- --seeds N --from S`: runs seeds, prints a summary, ends with 1 if one fails.
 *
 * The simulator is imported after the options are parsed: a mutation must be installed before its
 * source is loaded.
 */
const OPTIONS = {
  seeds: { type: "string", meaning: "N runs; 100, or without an end where minutes are given" },
  from: { type: "string", meaning: "the first seed, 1" },
  minutes: { type: "string", meaning: "ends after this time" },
  parallel: { type: "string", meaning: "processes, 1" },
  twice: { type: "boolean", meaning: "each seed twice: both must end the same" },
  out: { type: "string", meaning: "the folder for transcripts of failures, simulations" },
  "keep-going": { type: "boolean", meaning: "continues after a failure" },
  "check-sometimes": { type: "boolean", meaning: "fails if a rare situation is never reached" },
  quick: { type: "boolean", meaning: "does not look for the smallest run that fails" },
  mutate: { type: "string", meaning: "removes a rule from the source" },
  mutations: { type: "boolean", meaning: "removes each rule in turn, and prints the seed that notices" },
  without: { type: "string", meaning: "leaves out faults: names with commas" },
  only: { type: "string", meaning: "these faults alone" },
  voters: { type: "string", meaning: "their number, instead of what a seed draws" },
  observers: { type: "string", meaning: "as --voters" },
  clients: { type: "string", meaning: "as --voters" },
  tenants: { type: "string", meaning: "hostile clients" },
  kinds: { type: "string", meaning: "yes or no: containers and TTL nodes" },
  limits: { type: "string", meaning: "small: limits of requests that clients reach" },
  sessions: { type: "string", meaning: "replicated, local or upgrading" },
  manners: { type: "string", meaning: "plain: clients do not reconnect early, move or give wrong passwords" },
  files: { type: "string", meaning: "yes or no: operators change the members in files" },
  restores: { type: "boolean", meaning: "operators restore states of the past" },
  closed: { type: "boolean", meaning: "ensembles are founded without clients, opened to them and closed again" },
  levels: { type: "boolean", meaning: "servers change their versions, and the feature level is raised" },
  reconfig: { type: "string", meaning: "yes or no: the configuration changes" },
  until: { type: "string", meaning: "when faults end, in virtual milliseconds" },
  "crash-at-log-step": { type: "string", meaning: "crashes a server at this step of its log" },
  exhaustive: { type: "boolean", meaning: "all ways of a small ensemble; see the README for those that follow" },
  depth: { type: "string", meaning: "with --exhaustive: deviations from the plain run, 2" },
  stride: { type: "string", meaning: "with --exhaustive: every n-th first deviation, from --from on" },
  faults: { type: "string", meaning: "with --exhaustive: faults at most, 3" },
  elections: { type: "boolean", meaning: "with --exhaustive: deviations of elections as well" },
  deviations: { type: "string", meaning: "with --exhaustive: one run" },
  worker: { type: "boolean", meaning: "a process that takes runs from another one" },
  help: { type: "boolean", meaning: "prints this" },
} as const;

const values = options();
if (values.help === true) {
  console.log("npm run simulate -- [options]");
  for (const [name, { type, meaning }] of Object.entries(OPTIONS)) {
    console.log(`  --${type === "string" ? `${name} …` : name}`.padEnd(26), meaning);
  }
  process.exit(0);
}

if (values.mutate !== undefined) {
  const mutation = MUTATIONS.find(({ name }) => name === values.mutate);
  if (mutation === undefined) {
    console.error(
      `there is no mutation "${values.mutate}", there are:\n${MUTATIONS.map(({ name }) => name).join("\n")}`,
    );
    process.exit(2);
  }
  installMutation(mutation);
}

if (values.exhaustive === true) {
  const { runExhaustive, runOneScript, serveExhaustive } = await import("./exhaustive/run-exhaustive.ts");
  const stride = wholeOption("stride", values.stride ?? "1");
  const space = {
    depth: wholeOption("depth", values.depth ?? "2"),
    faults: wholeOption("faults", values.faults ?? "3"),
    hasElections: values.elections === true,
    stride,
    offset: wholeOption("from", values.from ?? "0") % stride,
  };
  if (values.deviations !== undefined) process.exitCode = runOneScript(JSON.parse(values.deviations));
  else if (values.worker === true) serveExhaustive(space);
  else {
    const parallel = wholeOption("parallel", values.parallel ?? "1");
    process.exitCode = await runExhaustive({ space, parallel, mutation: values.mutate });
  }
} else if (values.mutations === true) {
  const { runMutations } = await import("./mutations/mutation-table.ts");
  process.exitCode = await runMutations(wholeOption("seeds", values.seeds ?? "1000"));
} else {
  const { sessionMode } = await import("./seeds/draw-plan.ts");
  const { faultNames } = await import("./faults/fault-names.ts");
  const changes = {
    ...(values.without === undefined ? {} : { without: faultNames(values.without) }),
    ...(values.only === undefined ? {} : { only: faultNames(values.only) }),
    ...(values.voters === undefined ? {} : { voters: wholeOption("voters", values.voters) }),
    ...(values.observers === undefined ? {} : { observers: wholeOption("observers", values.observers) }),
    ...(values.clients === undefined ? {} : { clients: wholeOption("clients", values.clients) }),
    ...(values.kinds === undefined ? {} : { hasNodeKinds: values.kinds === "yes" }),
    ...(values.limits === undefined ? {} : { hasSmallLimits: values.limits === "small" }),
    ...(values.sessions === undefined ? {} : { sessions: sessionMode(values.sessions) }),
    ...(values.tenants === undefined ? {} : { tenants: wholeOption("tenants", values.tenants) }),
    ...(values.reconfig === undefined ? {} : { isChangeable: values.reconfig === "yes" }),
    ...(values.restores === true ? { hasRestores: true } : {}),
    ...(values.closed === true ? { hasClosedClients: true } : {}),
    ...(values.levels === true ? { hasLevels: true } : {}),
    ...(values.files === undefined ? {} : { hasFiles: values.files === "yes" }),
    ...(values.manners === undefined ? {} : { hasPlainManners: values.manners === "plain" }),
    ...(values.until === undefined ? {} : { faultsUntilMs: wholeOption("until", values.until) }),
    ...(values["crash-at-log-step"] === undefined
      ? {}
      : { crashAtLogStep: wholeOption("crash-at-log-step", values["crash-at-log-step"]) }),
  };
  if (values.worker === true) {
    const { serveBatches } = await import("./seeds/worker.ts");
    serveBatches(changes);
  } else {
    const { runSeeds } = await import("./seeds/run-seeds.ts");
    process.exitCode = await runSeeds({
      from: wholeOption("from", values.from ?? "1"),
      seeds: wholeOption("seeds", values.seeds ?? (values.minutes === undefined ? "100" : "1000000000")),
      minutes: values.minutes === undefined ? undefined : wholeOption("minutes", values.minutes),
      parallel: wholeOption("parallel", values.parallel ?? "1"),
      isTwice: values.twice === true,
      out: values.out ?? "simulations",
      explains: values.quick !== true,
      keepsGoing: values["keep-going"] === true,
      checksSometimes: values["check-sometimes"] === true,
      mutation: values.mutate,
      changes,
    });
  }
}

function options() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error("npm run simulate -- --help lists the options");
    return process.exit(2);
  }
}
