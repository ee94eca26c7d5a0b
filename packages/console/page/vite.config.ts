import { defineConfig, type UserConfig } from "vite";

const config: UserConfig = defineConfig({
  base: "/console/",
  // Relative to this folder, which the command names as its root.
  build: {
    outDir: "../dist/page",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: true,
    license: { fileName: "licences.txt" },
  },
});

export default config;
