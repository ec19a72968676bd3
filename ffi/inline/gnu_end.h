/* Ends the statements. */
#endif /* __GNUC__ */
