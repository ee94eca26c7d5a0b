import { mergeConfig, type ViteUserConfig } from "vitest/config";
import { shared } from "../../../vitest.shared.ts";

const config: ViteUserConfig = mergeConfig(shared, { test: { root: import.meta.dirname } });
config.test = { ...config.test, include: ["never-comes.ts"] };

/** Tests that wait for what never comes. */
export default config;
