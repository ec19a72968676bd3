/* Ends what is compiled in every program. */
#ifdef __cplusplus
}
#endif
#endif
