import { mergeConfig } from "vitest/config";
import { shared } from "../../vitest.shared.ts";

export default mergeConfig(shared, { test: { name: "console", include: ["page/src/**/*.test.ts"] } });
