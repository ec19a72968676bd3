// What is asked of the scripts of the page, and of the programs that test it.

import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    rules: {
      eqeqeq: "error",
      // It does not know that `||=` reads; the compiler does.
      "no-unused-private-class-members": "off",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  { files: ["crates/serve/page/**/*.js"], languageOptions: { globals: globals.browser } },
  {
    files: ["**/*.mjs"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
];
