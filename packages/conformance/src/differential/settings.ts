import { digest } from "../wire.ts";

/** All optional features enabled, and no background activity. */
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
/** Scripts send many wrong credentials, whose answers would otherwise be delayed more and more. */
const NO_DELAY = "zooid.authFailureDelayMaxMs=0";
export const ZOOID_SETTINGS: readonly string[] = [...SETTINGS, NO_REAPING, NO_DELAY];
