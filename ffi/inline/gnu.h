/* Begins the statements, which take a compiler that knows the extensions of GNU C. */
#if defined(__GNUC__)
