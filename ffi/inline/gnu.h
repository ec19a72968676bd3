#if defined(__GNUC__)
