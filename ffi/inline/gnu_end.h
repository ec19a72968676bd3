#endif /* __GNUC__ */
