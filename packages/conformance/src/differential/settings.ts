import { digest } from "../wire.ts";

/** Everything that may be switched on, and nothing that happens by itself. */
const SETTINGS: readonly string[] = [
  "tickTime=200",
  "maxSessionTimeout=60000",
  "extendedTypesEnabled=true",
  "enforceQuota=true",
  `DigestAuthenticationProvider.superDigest=${digest("super:admin")}`,
];
const NO_REAPING = "znode.container.checkIntervalMs=86400000";

/** Lines of zoo.cfg. */
export const APACHE_SETTINGS: readonly string[] = SETTINGS;
/** Apache reads these from the command line only. */
export const APACHE_PROPERTIES: readonly string[] = [`-D${NO_REAPING}`];
/** Scripts show many wrong identities, which otherwise are answered ever later. */
const NO_DELAY = "zooid.authFailureDelayMaxMs=0";
export const ZOOID_SETTINGS: readonly string[] = [...SETTINGS, NO_REAPING, NO_DELAY];
